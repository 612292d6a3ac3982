import { io } from '../../cli/io.ts'
import { Environment } from '../../server/config.ts'
import { diskGuard } from '../../eventstore/embedded/disk.ts'
import { lockDataDir } from '../../eventstore/embedded/lock.ts'
import { startPostgres } from '../../eventstore/embedded/postgres.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { isPostgresUrl, openAdapter } from '../../eventstore/log/open-log.ts'
import { assertHoldsPostgres, silentLogger } from '../support/database.ts'

/** The location of the PostgreSQL in `DATA_DIR`; all others are URLs. */
const EMBEDDED = 'embedded'

/** Only these two variables are validated, because copies do not use the others. */
const { DATA_DIR, DISK_RESERVE_MB } = Environment.shape

/** `append` throws when the disk is nearly full, because a full disk would stop PostgreSQL. */
const withDiskGuard = (log: EventLog, dataDir: string): EventLog => {
  const isLow = diskGuard({ dir: dataDir, reserveMb: DISK_RESERVE_MB.parse(io().env.DISK_RESERVE_MB || undefined) })
  const append: EventLog['append'] = async (...args) => {
    if (isLow()) throw new Error(`The disk of ${dataDir} is nearly full: free some space, and run the copy again.`)
    return log.append(...args)
  }
  return { ...log, append }
}

const lockUnlessServed = (dataDir: string) =>
  lockDataDir(dataDir).catch((error: Error) => {
    throw new Error(`${error.message}. Stop it first: events that it writes during the copy would be missing.`, {
      cause: error,
    })
  })

/**
 * Starts the PostgreSQL of `DATA_DIR` while the log is open. Refuses while a service runs there, because the copy would silently
 * miss what the service writes meanwhile.
 */
const openEmbedded = async (role: Role, signal: AbortSignal): Promise<OpenLocation> => {
  const dataDir = DATA_DIR.parse(io().env.DATA_DIR || undefined)
  if (role === 'source') await assertHoldsPostgres(dataDir)
  const cleanups = [(await lockUnlessServed(dataDir)).release]
  const close = async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp()
  }
  try {
    const postgres = await startPostgres({ dataDir, log: silentLogger, signal })
    cleanups.push(() => postgres.stop('fast'))
    const log = await openAdapter(postgres.url)
    cleanups.push(log.close)
    return { log: { ...(role === 'target' ? withDiskGuard(log, dataDir) : log), close }, databaseUrl: postgres.url }
  } catch (error) {
    await close()
    throw error
  }
}

export type Role = 'source' | 'target'

/** A log, and its database; undefined for EventStoreDB. */
type OpenLocation = { readonly log: EventLog; readonly databaseUrl: string | undefined }

/** Opens the log at a URL, or that of `DATA_DIR`. Closing it also stops a PostgreSQL that was started for it. */
export const openLocation = async (location: string, role: Role, signal: AbortSignal): Promise<OpenLocation> => {
  if (location === EMBEDDED) return openEmbedded(role, signal)
  return { log: await openAdapter(location), databaseUrl: isPostgresUrl(location) ? location : undefined }
}
