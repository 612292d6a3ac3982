import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Account } from './run-program.ts'
import type { Binaries } from './binaries.ts'
import type { Place } from './paths.ts'
import { insist, type Step } from './processes.ts'
import { environment } from './run-program.ts'
import { openLog, tailOf } from './server-log.ts'
import { serverArguments } from './server-arguments.ts'

export type StopMode = 'fast' | 'immediate'

/** One life of the server. */
export type Server = {
  readonly pid: number
  /** Resolves when it has ended, to its exit code or signal. */
  readonly ended: Promise<string>
  /** Asks it to end, ever more firmly, and resolves when it has; asking again is fine. */
  stop(mode: StopMode): Promise<void>
}

const STEPS: Record<StopMode, readonly Step[]> = {
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
 * The shell becomes the server, in a session of its own so that no signal meant for us reaches it. It leaves a guard
 * behind, which reads from our pipe: a line means that all is done, the pipe's end that we are dead and it has to go.
 * The guard is nobody's child (the inner parentheses), or the server would stumble over a child it does not know.
 */
const GUARDED = `
server=$$
(
  {
    read -r _ && exit
    kill -INT $server || exit
    for _ in 1 2 3 4 5; do sleep 1; kill -0 $server || exit; done
    kill -QUIT $server
  } <&3 >/dev/null 2>&1 &
)
exec "$@" 3<&-
`

const watch = (child: ChildProcess, pid: number): Server => {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const guard = child.stdio[3]
  if (child.pid === undefined || !guard || !('write' in guard))
    throw new Error('a spawned server has a pid and a guard')
  guard.on('error', () => {})
  const ended = once(child, 'exit').then(([code, signal]) => {
    if (guard && 'end' in guard) guard.end('ended\n')
    return `${signal ?? `exit code ${code}`}`
  })
  const stop = async (mode: StopMode) => {
    if (!hasEnded()) await insist(STEPS[mode], (signal) => void child.kill(signal), hasEnded)
    await ended
  }
  return { pid, ended, stop }
}

const spawnGuarded = async (place: Place, { postgres }: Binaries, account: Account | undefined) => {
  const output = await openLog(place.logFile)
  try {
    const child = spawn('/bin/sh', ['-c', GUARDED, 'sh', postgres, ...serverArguments(place)], {
      ...account,
      cwd: '/',
      env: environment(),
      detached: true,
      stdio: ['ignore', output.fd, output.fd, 'pipe'],
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    return watch(child, child.pid)
  } finally {
    await output.close()
  }
}

/**
 * The server writes its state into its lock file; `pg_ctl` looks there too. A stale file may hold the same pid (in a
 * container they repeat), so the start time in it counts as well, in seconds of a clock that may lag by a tick.
 */
const isReady = async (cluster: string, pid: number, launched: number) => {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')
  return Number(lines[0]) === pid && Number(lines[2]) >= launched / 1000 - 2 && lines[7]?.trim() === 'ready'
}

const untilReady = async (place: Place, server: Server, launched: number, signal: AbortSignal) => {
  let failure: string | undefined
  void server.ended.then((how) => (failure = how))
  while (!(await isReady(place.cluster, server.pid, launched))) {
    if (failure) throw new Error(`PostgreSQL did not start (${failure}): ${await tailOf(place.logFile)}`)
    await setTimeout(20, undefined, { signal })
  }
}

/**
 * Starts the server on a complete cluster; resolves when it takes connections, which a recovery can delay.
 * @throws Error with the end of the server's log when it does not start; an aborted one has ended before this rejects
 */
export const launch = async (
  place: Place,
  binaries: Binaries,
  account: Account | undefined,
  signal: AbortSignal,
): Promise<Server> => {
  signal.throwIfAborted()
  const launched = Date.now()
  const server = await spawnGuarded(place, binaries, account)
  try {
    await untilReady(place, server, launched, signal)
    return server
  } catch (error) {
    await server.stop('fast')
    throw error
  }
}
