import { dirname } from 'node:path'
import { io } from '../cli/io.ts'
import { type BackupContent, readBackup } from '../eventstore/backup/write.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { stoppable } from '../cli/interrupt.ts'
import { say } from '../cli/output.ts'
import { readConfig } from '../server/config.ts'
import { diskGuard } from '../eventstore/embedded/disk.ts'
import { writeWhole } from '../client/transfer/output-file.ts'
import { explainOutput } from '../cli/named-file.ts'
import { withDatabase } from './support/database.ts'

/** The database may be on the same disk, so the backup must not fill it. */
const assertRoom = (file: string, reserveMb: number) => {
  const isLow = diskGuard({ dir: dirname(file), reserveMb })
  return () => {
    if (isLow())
      throw new Error(
        `Less than DISK_RESERVE_MB (${reserveMb} MB) is free on the disk of ${file}. Nothing was written: free some space, or use another disk.`,
      )
  }
}

export const backup = async (_options: object, file: string): Promise<number> => {
  const config = readConfig(io().env)
  if (config.EVENTSTORE_URL)
    throw new UsageError(
      'The log is in EventStoreDB: back it up with the tools of that server first, then the database with pg_dump.',
    )
  const hasRoom = assertRoom(file, config.DISK_RESERVE_MB)
  return stoppable((signal) =>
    withDatabase(config, async (url) => {
      const check = () => {
        signal.throwIfAborted()
        hasRoom()
      }
      let written: BackupContent | undefined
      const pieces = readBackup({ url, at: Date.now(), check }, (all) => (written = all))
      const bytes = await writeWhole(file, pieces).catch(explainOutput(file))
      const { events, sha256 } = written!
      say(`${file}: ${events} events of the log, ${Math.ceil(bytes / 1024 / 1024)} MB, sha256 of the content ${sha256}`)
      return exitCodes.ok
    }),
  )
}
