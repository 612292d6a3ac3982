import { cpus } from 'node:os'

const TICK_MS = 1_000
/** Of what the cores could do, at least so much has been left over if they were not busy. */
const LEFT_OVER = 0.1
/** On busy cores a work takes as much longer. */
const SLOWER = 5

const idleMs = (): number => cpus().reduce((sum, { times }) => sum + times.idle, 0)

/**
 * Calls `late` when work has taken so many milliseconds. A second in which the cores had nothing left counts for a fifth, because what else
 * the machine does is no fault of the work. @returns what lifts the limit
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
