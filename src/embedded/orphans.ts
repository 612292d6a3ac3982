import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from './log.ts'
import { type Place, socketName } from './paths.ts'
import { insist, isPostmaster, mayServe, processes, processesOf, send, type Step } from './processes.ts'

/** Fast, then immediate shutdown, then by force. */
const POLITELY: readonly Step[] = [
  ['SIGINT', 4_000],
  ['SIGQUIT', 3_000],
]
const FIRMLY: readonly Step[] = [
  ['SIGQUIT', 1_000],
  ['SIGKILL', 5_000],
]

const isEnded = async (marker: string) => (await processesOf(marker)).length === 0

/**
 * Ends every process of the place's PostgreSQL: one that a killed predecessor left, or the children of a killed server.
 * Only to be called by the owner of the DATA_DIR.
 * @throws Error when one does not even end by SIGKILL
 */
export const endOrphans = async ({ marker }: Place, log: Log): Promise<void> => {
  const found = await processesOf(marker)
  if (found.length === 0) return
  const servers = found.filter((each) => isPostmaster(each, marker)).map(({ pid }) => pid)
  log.warn({ servers }, 'ending the processes of an orphaned PostgreSQL')
  const tell = (signal: NodeJS.Signals) => servers.forEach((pid) => send(pid, signal))
  const tellAll = async (signal: NodeJS.Signals) => (await processesOf(marker)).forEach(({ pid }) => send(pid, signal))
  if (servers.length > 0) await insist(POLITELY, tell, () => isEnded(marker))
  if (!(await isEnded(marker))) await insist(FIRMLY, tellAll, () => isEnded(marker))
  if (!(await isEnded(marker))) throw new Error(`an orphaned PostgreSQL does not end: ${JSON.stringify(servers)}`)
}

const holderOf = async (lockFile: string) => {
  const [line = ''] = (await readFile(lockFile, 'utf8').catch(() => '')).split('\n')
  return Math.abs(Number(line))
}

/** Whether PostgreSQL takes a process for alive: it does so also when that has ended and nobody has asked how. */
const seemsAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Removes the lock files that PostgreSQL would take for held although their process has ended: it waits to be reaped
 * (in a container perhaps for ever), or its id has been given to another program.
 * It sees through the other stale ones itself, and in doubt it is left to refuse.
 */
export const clearStaleLocks = async ({ cluster, socketDir }: Place, log: Log): Promise<void> => {
  const living = new Map((await processes()).map((each) => [each.pid, each]))
  for (const file of [join(cluster, 'postmaster.pid'), join(socketDir, `${socketName}.lock`)]) {
    const pid = await holderOf(file)
    const holder = living.get(pid)
    if (holder ? await mayServe(holder, cluster) : pid === 0 || !seemsAlive(pid)) continue
    log.warn({ file, pid }, 'removing a stale lock: its process has ended')
    await rm(file)
  }
}
