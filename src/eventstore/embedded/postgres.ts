import { chooseAccount } from './account.ts'
import { findBinaries } from './binaries.ts'
import { ensureCluster } from './cluster.ts'
import { assertCanEnter } from './folder-access.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { clearStaleLocks, endOrphans } from './orphans.ts'
import { configureAuthentication } from './authentication.ts'
import { makeSocketDir, pathsIn, removeSocketDir } from './paths.ts'
import { reachableBinaries } from './reachable-binaries.ts'
import { startServer, type StopMode } from './server.ts'
import { limitServerLog } from './server-log.ts'
import { supervise } from './supervise.ts'

export type EmbeddedPostgres = {
  /** Connection string of the database `tracebook`; the same after restarts. Has a password if root runs the service. */
  readonly url: string
  /** The process id of the server, which changes with each restart. */
  pid(): number
  /**
   * Stops it, and resolves when all its processes have ended. A fast stop rolls back open transactions and writes all
   * buffers to disk, within 6 s. An immediate stop, also during a fast one, leaves that to recovery at the next start.
   */
  stop(mode?: StopMode): Promise<void>
}

type EmbeddedOptions = {
  /** Must exist and be locked by the caller (`lockDataDir`), because remaining processes of an earlier owner are ended. */
  readonly dataDir: string
  readonly log: MinimalLogger
  /** Aborts the start, which then rejects after all processes have ended. */
  readonly signal?: AbortSignal
}

const LOG_CHECK_MS = 60_000

/**
 * Starts the PostgreSQL of a DATA_DIR and keeps it running. It listens only on a Unix socket, ends soon after this process,
 * and is restarted if it dies.
 * @throws Error if it cannot start, with the reason and what to do
 */
export const startPostgres = async ({ dataDir, log, signal }: EmbeddedOptions): Promise<EmbeddedPostgres> => {
  const starting = signal ?? new AbortController().signal
  const paths = await pathsIn(dataDir)
  const account = await chooseAccount(paths.cluster, log)
  await assertCanEnter(account, paths.dataDir, 'choose another DATA_DIR')
  const binaries = await reachableBinaries(await findBinaries(), account, paths.dataDir)
  let url = paths.url
  await ensureCluster(paths, binaries, { account, signal: starting })
  const start = async (signal: AbortSignal) => {
    await endOrphans(paths, log)
    await makeSocketDir(paths, account)
    await clearStaleLocks(paths, log)
    url = await configureAuthentication(paths, binaries, { account, signal })
    return startServer(paths, binaries, account, signal)
  }
  const server = await supervise(start, log, starting).catch(async (error) => {
    await removeSocketDir(paths)
    throw error
  })
  const logTimer = setInterval(() => void limitServerLog(paths.logFile).catch(() => {}), LOG_CHECK_MS).unref()
  const stop = async (mode?: StopMode) => {
    await server.stop(mode)
    clearInterval(logTimer)
    await endOrphans(paths, log)
    await removeSocketDir(paths)
  }
  return { url, pid: server.pid, stop }
}
