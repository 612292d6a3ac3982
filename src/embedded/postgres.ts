import { chooseAccount } from './account.ts'
import { findBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { requireEntry } from './folder-access.ts'
import type { Log } from './log.ts'
import { clearStaleLocks, endOrphans } from './orphans.ts'
import { protect } from './authentication.ts'
import { makeSocketDir, placeIn, removeSocketDir } from './paths.ts'
import { reachable } from './reachable-binaries.ts'
import { launch, type StopMode } from './server.ts'
import { boundLog } from './server-log.ts'
import { supervise } from './supervise.ts'

export type EmbeddedPostgres = {
  /** Connection string of the database `tracebook`; stays the same over restarts. A secret when root runs it. */
  readonly url: string
  /** The process id of the server, which changes when it has been started again. */
  pid(): number
  /**
   * Ends it for good; resolves when all its processes have gone. A fast stop breaks open transactions off and writes
   * its buffers out, at most 6 s long; an immediate one, also asked for while a fast one lasts, leaves that to recovery.
   */
  stop(mode?: StopMode): Promise<void>
}

export type EmbeddedOptions = {
  /** Must exist, and be locked by the caller (`lockDataDir`): what is left from before is ended. */
  readonly dataDir: string
  readonly log: Log
  /** Stops a start that is still under way; it then rejects, after everything has ended. */
  readonly signal?: AbortSignal
}

const LOG_CHECK_MS = 60_000

/**
 * Starts the PostgreSQL of a DATA_DIR and keeps it running. It listens on a Unix socket only, never outlives this
 * process for long, and is started again when it dies.
 * @throws Error when it cannot start; the message says why and what to do
 */
export const startPostgres = async ({ dataDir, log, signal }: EmbeddedOptions): Promise<EmbeddedPostgres> => {
  const starting = signal ?? new AbortController().signal
  const place = await placeIn(dataDir)
  const account = await chooseAccount(place.cluster, log)
  await requireEntry(account, place.dataDir, 'choose another DATA_DIR')
  const binaries = await reachable(await findBinaries(), account, place.dataDir)
  let url = place.url
  await ensureCluster(place, binaries, { account, signal: starting })
  const start = async (signal: AbortSignal) => {
    await endOrphans(place, log)
    await makeSocketDir(place, account)
    await clearStaleLocks(place, log)
    url = await protect(place, binaries, { account, signal })
    return launch(place, binaries, account, signal)
  }
  const server = await supervise(start, log, starting).catch(async (error) => {
    await removeSocketDir(place)
    throw error
  })
  const bounding = setInterval(() => void boundLog(place.logFile).catch(() => {}), LOG_CHECK_MS).unref()
  const stop = async (mode?: StopMode) => {
    await server.stop(mode)
    clearInterval(bounding)
    await endOrphans(place, log)
    await removeSocketDir(place)
  }
  return { url, pid: server.pid, stop }
}
