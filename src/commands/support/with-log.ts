import { io } from '../../cli/io.ts'
import { readConfig } from '../../server/config.ts'
import { type Codec, newCodec } from '../../eventstore/engine/codec.ts'
import { assertSameLog } from '../../eventstore/engine/same-log.ts'
import { formats } from '../../server/events.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { openLog } from '../../eventstore/log/open-log.ts'
import { findDatabaseUrl } from './database.ts'

export type OpenedLog = { readonly url: string; readonly log: EventLog; readonly codec: Codec }

/**
 * Runs `work` with the log of a service, and the URL of its database.
 * @throws WrongLog when the read models of the database were built from another log
 */
export const withLog = async <T>(work: (opened: OpenedLog) => Promise<T>): Promise<T> => {
  const config = readConfig(io().env)
  const url = await findDatabaseUrl(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  try {
    await assertSameLog(url, log)
    return await work({ url, log, codec: newCodec(formats) })
  } finally {
    await log.close()
  }
}
