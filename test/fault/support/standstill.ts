import { readFile } from 'node:fs/promises'
import { until } from '../../support/until.ts'

/** Sends a signal to processes, except to those that have ended meanwhile. */
export const killAll = (pids: readonly number[], signal: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // it has ended
    }
  }
}

/** Whether a process is stopped or has ended. On systems without /proc signals are assumed to work at once. */
const isStill = async (pid: number): Promise<boolean> => {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return status === '' || /^[TtZX]/.test(status.slice(status.lastIndexOf(')') + 2))
}

/** Stops processes, and those that they start meanwhile. Returns all of them once all are stopped. */
export const standStill = async (list: () => Promise<number[]>): Promise<number[]> => {
  const stopped = new Set<number>()
  for (;;) {
    const fresh = (await list()).filter((pid) => !stopped.has(pid))
    if (fresh.length === 0) return [...stopped]
    killAll(fresh, 'SIGSTOP')
    for (const pid of fresh) {
      await until(() => isStill(pid))
      stopped.add(pid)
    }
  }
}
