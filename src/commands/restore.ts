import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { io } from '../cli/io.ts'
import { type RestoreResult, checkRestorable, restoreBackup } from '../eventstore/backup/restore.ts'
import type { Header } from '../eventstore/backup/format.ts'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { stoppable } from '../cli/interrupt.ts'
import { explainMissingFile } from '../cli/named-file.ts'
import { printLines, say } from '../cli/output.ts'
import { shortTime } from '../cli/time-text.ts'
import { type Config, readConfig } from '../server/config.ts'
import { diskGuard } from '../eventstore/embedded/disk.ts'
import { withNewDatabase } from './support/database.ts'

/** An embedded database does not survive a full disk. */
const assertRoom = ({ DATABASE_URL, DATA_DIR: dir, DISK_RESERVE_MB: reserveMb }: Config): (() => void) => {
  if (DATABASE_URL) return () => {}
  const isLow = diskGuard({ dir, reserveMb })
  return () => {
    if (isLow())
      throw new Error(
        `Less than DISK_RESERVE_MB (${reserveMb} MB) is free on the disk of ${dir}: free some space, and run it again.`,
      )
  }
}

const sayNextSteps = async ({ DATABASE_URL, DATA_DIR, AUDIT_KEY, AUDIT_KEY_FILE }: Config) => {
  const hasKey = await access(join(DATA_DIR, 'audit.key')).then(
    () => true,
    () => false,
  )
  if (!DATABASE_URL && !AUDIT_KEY && !AUDIT_KEY_FILE && !hasKey)
    say(
      `The key that signs checkpoints is not in a backup: put audit.key into ${DATA_DIR} first, or the service creates another one.`,
    )
  say(`Next, start the service, which builds the read models: ${commandName} serve`)
}

const restored = ({ events, rows }: RestoreResult, { at, version }: Header): string =>
  `${events} events of the log, ${rows} rows in all, of the backup of ${shortTime(at)} (Tracebook ${version})`

export const restore = async (_options: object, file: string): Promise<number> => {
  const config = readConfig(io().env)
  if (config.EVENTSTORE_URL)
    throw new UsageError('Backups do not hold logs of EventStoreDB: unset EVENTSTORE_URL to restore into a database.')
  return stoppable(async (signal) => {
    const header = await checkRestorable(file, () => signal.throwIfAborted()).catch(explainMissingFile(file))
    const hasRoom = assertRoom(config)
    const check = () => {
      signal.throwIfAborted()
      hasRoom()
    }
    const done = await withNewDatabase(config, (url) => restoreBackup(header, { path: file, url, check }))
    await printLines([restored(done, header)])
    await sayNextSteps(config)
    return exitCodes.ok
  })
}
