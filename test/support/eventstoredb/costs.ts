import { setImmediate } from 'node:timers/promises'

const SLICE_US = 1_000

const cpuUs = () => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/**
 * Spends the processor time that is asked for, in slices between which the server answers others. What a slice takes too much,
 * because the system counts in coarse steps, the next ones take less.
 */
export const newCosts = () => {
  let owed = 0
  return async (microseconds: number): Promise<void> => {
    owed += microseconds
    while (owed > 0) {
      const start = cpuUs()
      const end = start + Math.min(owed, SLICE_US)
      let now = start
      while (now < end) now = cpuUs()
      owed -= now - start
      await setImmediate()
    }
  }
}
