import type { RetryTiming } from '../../../src/client/api/retry.ts'

/** The timing of a client that waits in no time: each delay is noted, and the clock moves on by it. Two minutes of patience. */
export const newTestTiming = () => {
  const waits: number[] = []
  const sum = () => waits.reduce((total, ms) => total + ms, 0)
  const timing: RetryTiming = {
    sleep: async (ms) => void waits.push(ms),
    now: sum,
    random: () => 0,
    patienceMs: 120_000,
  }
  return { timing, waits }
}
