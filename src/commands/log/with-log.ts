import { readConfig } from '../../config.ts'
import { type Codec, newCodec } from '../../engine/codec.ts'
import { assertSameLog } from '../../engine/same-log.ts'
import { formats } from '../../events.ts'
import type { EventLog } from '../../log/log.ts'
import { openLog } from '../../log/open-log.ts'
import { databaseOf } from '../rebuild.ts'

export type Opened = { readonly url: string; readonly log: EventLog; readonly codec: Codec }

/**
 * Opens the database and the log of a service for as long as the work takes.
 * @throws OtherLog when the read models of this database belong to another log: from that one nothing may be made anew
 */
export const withLog = async <T>(work: (opened: Opened) => Promise<T>): Promise<T> => {
  const config = readConfig(process.env)
  const url = await databaseOf(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  try {
    await assertSameLog(url, log)
    return await work({ url, log, codec: newCodec(formats) })
  } finally {
    await log.close()
  }
}

/** For the help of commands that need both. */
export const environmentHelp = `Environment:
  DATABASE_URL    the database of the service
  DATA_DIR        without DATABASE_URL: the folder of a service that runs (default: data)
  EVENTSTORE_URL  the log, for a service that has it there`
