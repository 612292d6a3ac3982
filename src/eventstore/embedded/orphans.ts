import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { MinimalLogger } from '../../base/logger.ts'
import { type Paths, socketName } from './paths.ts'
import {
  isAlive,
  signalUntilGone,
  isPostmaster,
  mayBeServerOf,
  runningProcesses,
  processesOf,
  sendSignal,
  type SignalStep,
} from './processes.ts'

/** First an immediate shutdown of the servers; then an immediate, then a forced end of all their processes. */
const SERVER_STEPS: readonly SignalStep[] = [['SIGQUIT', 3_000]]
const ALL_STEPS: readonly SignalStep[] = [
  ['SIGQUIT', 1_000],
  ['SIGKILL', 5_000],
]

const isEnded = async (marker: string) => (await processesOf(marker)).length === 0

/**
 * Ends all processes of the PostgreSQL with these paths: a server of a killed process, or the children of a killed server. Only for
 * the owner of the DATA_DIR.
 * @throws Error if one of them survives SIGKILL
 */
export const endOrphans = async ({ marker }: Paths, log: MinimalLogger): Promise<void> => {
  const found = await processesOf(marker)
  if (found.length === 0) return
  const servers = found.filter((each) => isPostmaster(each, marker)).map(({ pid }) => pid)
  log.warn({ servers }, 'ending the processes of an orphaned PostgreSQL')
  const signalServers = (signal: NodeJS.Signals) => servers.forEach((pid) => sendSignal(pid, signal))
  const signalAll = async (signal: NodeJS.Signals) =>
    (await processesOf(marker)).forEach(({ pid }) => sendSignal(pid, signal))
  if (servers.length > 0) await signalUntilGone(SERVER_STEPS, signalServers, () => isEnded(marker))
  if (!(await isEnded(marker))) await signalUntilGone(ALL_STEPS, signalAll, () => isEnded(marker))
  if (!(await isEnded(marker)))
    throw new Error(`an orphaned PostgreSQL survives SIGKILL: end its processes ${JSON.stringify(servers)} yourself`)
}

const holderOf = async (lockFile: string) => {
  const [line = ''] = (await readFile(lockFile, 'utf8').catch(() => '')).split('\n')
  return Math.abs(Number(line))
}

/**
 * Removes lock files of ended processes that PostgreSQL would count as held: the process was not reaped (which in a container may
 * never happen), or another program has its pid now. PostgreSQL itself removes all other stale lock files. In doubt a file stays, and
 * PostgreSQL refuses to start.
 */
export const clearStaleLocks = async ({ cluster, socketDir }: Paths, log: MinimalLogger): Promise<void> => {
  const running = new Map((await runningProcesses()).map((each) => [each.pid, each]))
  for (const file of [join(cluster, 'postmaster.pid'), join(socketDir, `${socketName}.lock`)]) {
    const pid = await holderOf(file)
    const holder = running.get(pid)
    if (holder ? await mayBeServerOf(holder, cluster) : pid === 0 || !isAlive(pid)) continue
    log.warn({ file, pid }, 'removing a stale lock: its process has ended')
    await rm(file)
  }
}
