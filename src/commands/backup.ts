import { dirname } from 'node:path'
import { io } from '../cli/io.ts'
import { type Written, readBackup } from '../backup/write.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { stoppable } from '../cli/interrupt.ts'
import { say } from '../cli/output.ts'
import { readConfig } from '../config.ts'
import { diskGuard } from '../embedded/disk.ts'
import { writeWhole } from '../sync/transfer/output-file.ts'
import { explainOutput } from '../cli/named-file.ts'
import { withDatabase } from './support/database.ts'

/** Refuses to fill the disk on which the database may be, too. */
const assertRoom = (file: string, reserveMb: number) => {
  const isLow = diskGuard({ dir: dirname(file), reserveMb })
  return () => {
    if (isLow())
      throw new Error(`less than DISK_RESERVE_MB (${reserveMb} MB) is free where ${file} is: nothing was written`)
  }
}

export const backup = async (_options: object, file: string): Promise<number> => {
  const config = readConfig(io().env)
  if (config.EVENTSTORE_URL)
    throw new UsageError(
      'the log is in EventStoreDB: back it up with the tools of that server, and the database with pg_dump, in this order',
    )
  const hasRoom = assertRoom(file, config.DISK_RESERVE_MB)
  return stoppable((signal) =>
    withDatabase(config, async (url) => {
      const check = () => {
        signal.throwIfAborted()
        hasRoom()
      }
      let written: Written | undefined
      const pieces = readBackup({ url, at: Date.now(), check }, (all) => (written = all))
      const bytes = await writeWhole(file, pieces).catch(explainOutput(file))
      const { events, sha256 } = written!
      say(`${file}: ${events} events of the log, ${Math.ceil(bytes / 1024 / 1024)} MB, sha256 of its content ${sha256}`)
      return exitCodes.ok
    }),
  )
}
