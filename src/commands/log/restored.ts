import { io } from '../../cli/io.ts'
import { exitCodes } from '../../cli/exit.ts'
import { printLines } from '../../cli/output.ts'
import { type Config, readConfig } from '../../server/config.ts'
import { publicId } from '../../eventstore/log/log-id.ts'
import { type OpenLogOptions, openLog } from '../../eventstore/log/open-log.ts'
import { withDatabase } from '../support/database.ts'

/** Begins a new epoch. Returns the id of the log that clients see from now on. */
const beginEpoch = async (options: OpenLogOptions): Promise<string> => {
  const log = await openLog(options)
  try {
    return publicId(await log.renewEpoch((await log.identity()).epoch))
  } finally {
    await log.close()
  }
}

const beginEpochOf = (config: Config): Promise<string> =>
  config.EVENTSTORE_URL
    ? beginEpoch({ databaseUrl: '', eventStoreUrl: config.EVENTSTORE_URL })
    : withDatabase(config, (databaseUrl) => beginEpoch({ databaseUrl }))

export const restored = async (): Promise<number> => {
  const logId = await beginEpochOf(readConfig(io().env))
  await printLines([`A new epoch of the log has begun: its logId is ${logId} now. Clients upload what is missing.`])
  return exitCodes.ok
}
