import { availableParallelism, cpus } from 'node:os'
import { setTimeout } from 'node:timers/promises'

const CORES = availableParallelism()

/** More would want more connections than the database server has, and each would take longer. */
export const AT_MOST = Math.max(4, CORES)

/** For so long the processor is looked at. */
const LOOK_MS = 500
/** So much of a core has to be free for one more. */
const FREE_CORES = 0.4

/** Bounds how many test files run at once. */
export type Room = {
  /** Resolves when one more may begin, or once the signal is aborted. */
  enter(signal: AbortSignal): Promise<void>
  leave(): void
}

/** Time that the cores have worked since the machine was started, in core milliseconds. */
const workedMs = () => cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)

/**
 * As many files as there are cores run at any time, and more while a core is free: many wait for most of their time, for a timer or
 * another process.
 */
export const newRoom = (): Room => {
  let running = 0
  let turn = Promise.resolve()
  const isCoreFree = async () => {
    const before = workedMs()
    await setTimeout(LOOK_MS)
    return (workedMs() - before) / LOOK_MS < CORES - FREE_CORES
  }
  const untilFree = async (signal: AbortSignal) => {
    while (running >= CORES && !signal.aborted && !(await isCoreFree()));
    running += 1
  }
  return {
    enter: (signal) => (turn = turn.then(() => untilFree(signal))),
    leave: () => void (running -= 1),
  }
}
