import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { Environment } from '../../config.ts'
import { diskGuard } from '../../embedded/disk.ts'
import { lockDataDir } from '../../embedded/lock.ts'
import { startPostgres } from '../../embedded/postgres.ts'
import type { EventLog } from '../../log/log.ts'
import { openAnyLog } from '../../log/open-any.ts'

/** Names the PostgreSQL under `DATA_DIR` where a URL would stand. */
const EMBEDDED = 'embedded'

const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** The two variables that matter here; the others need not make sense. */
const { DATA_DIR, DISK_RESERVE_MB } = Environment.shape

const assertThere = (dataDir: string) =>
  access(join(dataDir, 'postgres')).catch(() => {
    throw new Error(`${dataDir} holds no PostgreSQL: set DATA_DIR to the folder of the service`)
  })

/** PostgreSQL does not survive a full disk: the copy ends before. */
const withReserve = (log: EventLog, dataDir: string): EventLog => {
  const isLow = diskGuard({ dir: dataDir, reserveMb: DISK_RESERVE_MB.parse(process.env.DISK_RESERVE_MB || undefined) })
  const append: EventLog['append'] = async (...given) => {
    if (isLow()) throw new Error(`the disk of ${dataDir} is nearly full; make room and run the copy again`)
    return log.append(...given)
  }
  return { ...log, append }
}

const lock = (dataDir: string) =>
  lockDataDir(dataDir).catch((error: Error) => {
    throw new Error(`${error.message}. Stop it first: what a service writes during a copy would be missing`, {
      cause: error,
    })
  })

/**
 * Starts the PostgreSQL of `DATA_DIR` for as long as the log is open. The database of a service that runs there could be
 * reached, but what it wrote after the copy had passed would be lost without a word: so it has to be stopped.
 */
const openEmbedded = async (role: Role, signal: AbortSignal): Promise<EventLog> => {
  const dataDir = DATA_DIR.parse(process.env.DATA_DIR || undefined)
  if (role === 'source') await assertThere(dataDir)
  const ends = [(await lock(dataDir)).release]
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  try {
    const postgres = await startPostgres({ dataDir, log: silent, signal })
    ends.push(() => postgres.stop('fast'))
    const log = await openAnyLog(postgres.url)
    ends.push(log.close)
    return { ...(role === 'target' ? withReserve(log, dataDir) : log), close }
  } catch (error) {
    await close()
    throw error
  }
}

type Role = 'source' | 'target'

/** The log at a URL, or that of `DATA_DIR`; its `close` leaves nothing running. */
export const openPlace = (place: string, role: Role, signal: AbortSignal): Promise<EventLog> =>
  place === EMBEDDED ? openEmbedded(role, signal) : openAnyLog(place)
