import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import type { Paths } from './paths.ts'
import { type SignalStep, signalUntilGone } from './processes.ts'
import { type Account, programEnvironment } from './run-program.ts'
import { lastLines, openServerLog } from './server-log.ts'

/** What only a server can be told, chosen for two cores and little memory. Sessions have settings of their own (`../postgres/session-settings.ts`). */
const TUNING: Readonly<Record<string, string>> = {
  // For several processes with their default number of connections. An unused slot costs some kilobytes.
  max_connections: '400',

  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  shared_buffers: '128MB',
  maintenance_work_mem: '64MB',
  autovacuum: 'on',
  // Often, because lists step over index entries of deleted rows until they are vacuumed.
  autovacuum_naptime: '15s',

  // An embedded server has no standbys. With `minimal` a rebuild creates its indexes without writing them to the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_buffers: '16MB',
  // Measured: half the time of fdatasync for a commit.
  ...(process.platform === 'linux' ? { wal_sync_method: 'open_datasync' } : {}),
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // The installed builds have no lz4, and pglz takes more time than it saves.
  wal_compression: 'off',

  // No user content in the log: no statements and no details. Errors of the role `tracebook` are not logged (`cluster.ts`).
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
}

/**
 * The server's command line. Settings are here and not in the cluster's configuration file, so that they change with the
 * version of this code.
 */
const serverArguments = ({ cluster, socketDir, marker, hbaFile }: Paths): string[] => {
  const settings = {
    cluster_name: marker,
    hba_file: hbaFile,
    port: '5432',
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    // Only its owner, who can read the data files anyway, and root can open the socket (see authentication.ts).
    unix_socket_permissions: '0700',
    ...TUNING,
  }
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

export type StopMode = 'fast' | 'immediate'

/** A server process. */
export type Server = {
  readonly pid: number
  /** Resolves when it has ended, to a text with its exit code or signal. */
  readonly ended: Promise<string>
  /** Ends it, with stronger signals as time passes, and resolves when it has ended. May be called again. */
  stop(mode: StopMode): Promise<void>
}

const STEPS: Record<StopMode, readonly SignalStep[]> = {
  fast: [
    ['SIGINT', 6_000],
    ['SIGQUIT', 2_000],
    ['SIGKILL', 5_000],
  ],
  immediate: [
    ['SIGQUIT', 2_000],
    ['SIGKILL', 5_000],
  ],
}

/**
 * The shell replaces itself by the server (`exec`), in its own session, so that signals for this process do not reach it. Before that it starts a
 * guard that reads from a pipe to this process. A line means that the server has ended; the end of the pipe means that this process is dead.
 * Then the guard ends the server as a crash would: it recovers as fast as it would have shut down, and whoever copies the
 * folder now, as a backup, finds nobody who still writes into it. A subshell (the inner parentheses) starts the guard, so that it is not a child of
 * the server, which expects to know all its children.
 */
const GUARDED = `
server=$$
(
  {
    read -r _ && exit
    kill -QUIT $server
  } <&3 >/dev/null 2>&1 &
)
exec "$@" 3<&-
`

const serverOf = (child: ChildProcess, pid: number): Server => {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const guard = child.stdio[3]
  if (child.pid === undefined || !guard || !('write' in guard))
    throw new Error('the spawned server has no pid or no guard pipe')
  guard.on('error', () => {})
  const ended = once(child, 'exit').then(([code, signal]) => {
    if (guard && 'end' in guard) guard.end('ended\n')
    return `${signal ?? `exit code ${code}`}`
  })
  const stop = async (mode: StopMode) => {
    if (!hasEnded()) await signalUntilGone(STEPS[mode], (signal) => void child.kill(signal), hasEnded)
    await ended
  }
  return { pid, ended, stop }
}

const spawnGuarded = async (paths: Paths, { postgres }: Binaries, account: Account | undefined) => {
  const output = await openServerLog(paths.logFile)
  try {
    const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', postgres, ...serverArguments(paths)], {
      ...account,
      cwd: '/',
      env: programEnvironment(),
      detached: true,
      stdio: ['ignore', output.fd, output.fd, 'pipe'],
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    return serverOf(child, child.pid)
  } finally {
    await output.close()
  }
}

/**
 * Reads the server's state from its lock file, as `pg_ctl` does. A stale file may have the same pid (pids repeat in
 * containers), so the start time in the file is compared as well, in seconds and with some tolerance.
 */
const isReady = async (cluster: string, pid: number, launched: number) => {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && Number(lines[2]) >= launched / 1000 - 2 && lines[7]?.trim() === 'ready'
}

const untilReady = async (paths: Paths, server: Server, launched: number, signal: AbortSignal) => {
  let failure: string | undefined
  void server.ended.then((how) => (failure = how))
  while (!(await isReady(paths.cluster, server.pid, launched))) {
    if (failure) throw new Error(`PostgreSQL did not start (${failure}): ${await lastLines(paths.logFile)}`)
    await setTimeout(20, undefined, { signal })
  }
}

/**
 * Starts the server on a complete cluster, and resolves when it accepts connections, which may take long after a crash.
 * @throws Error with the end of the server's log if it does not start; rejects after an aborted server has ended
 */
export const startServer = async (
  paths: Paths,
  binaries: Binaries,
  account: Account | undefined,
  signal: AbortSignal,
): Promise<Server> => {
  signal.throwIfAborted()
  const launched = Date.now()
  const server = await spawnGuarded(paths, binaries, account)
  try {
    await untilReady(paths, server, launched, signal)
    return server
  } catch (error) {
    await server.stop('fast')
    throw error
  }
}
