import { newBudget } from './budget.ts'

/** The turn of one session to be read and encoded. */
export type Turn = {
  /** Runs `work` once it is this session's turn. Throws the reason of the run's signal. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>
  /** Called within `during`: while it is waited for, it is the turn of another session. */
  readonly pausedFor: <T>(wait: () => Promise<T>) => Promise<T>
}

/** The turns of `count` sessions at once, in the order in which they are asked for. No work begins once `signal` is aborted. */
export const newTurns = (count: number, signal: AbortSignal): (() => Turn) => {
  const free = newBudget(count)
  const begin = () => free.take(1)
  const end = () => free.giveBack(1)
  return () => ({
    during: async (work) => {
      await begin()
      try {
        signal.throwIfAborted()
        return await work()
      } finally {
        end()
      }
    },
    pausedFor: async (wait) => {
      end()
      try {
        return await wait()
      } finally {
        await begin()
      }
    },
  })
}
