import { cpus } from 'node:os'

const TICK_MS = 1_000
/** The machine counts as busy if the cores were idle for less than this share of the time. */
const LEFT_OVER = 0.1
/** By which factor work is slower on a busy machine. */
const SLOWER = 5

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0)

/**
 * Calls `late` when work has taken `ms` milliseconds. A second in which the machine was busy counts for a fifth, because other work
 * makes it slower. Returns a function that lifts the limit.
 */
export const setLimit = (ms: number, late: () => void): (() => void) => {
  const cores = cpus().length
  let [left, idle, at] = [ms, idleMs(), performance.now()]
  const timer = setInterval(
    () => {
      const [idleNow, now] = [idleMs(), performance.now()]
      const wasBusy = idleNow - idle < LEFT_OVER * cores * (now - at)
      left -= (now - at) / (wasBusy ? SLOWER : 1)
      ;[idle, at] = [idleNow, now]
      if (left <= 0) late()
    },
    Math.min(TICK_MS, ms),
  )
  return () => clearInterval(timer)
}
