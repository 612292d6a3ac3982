import type { Budget } from './budget.ts'
import type { EncodedMessage } from './encode.ts'

type Batch = readonly EncodedMessage[]

/** The batches of one session. */
export type Sending = {
  /**
   * Sends a batch once the one before has arrived and there is room for it, and returns then, before it has arrived. Throws what
   * an earlier batch threw, and the reason of `signal`.
   */
  readonly add: (batch: Batch) => Promise<void>
  /** Waits for the last batch. Throws what the first that failed threw. */
  readonly finish: () => Promise<void>
  /** Waits for the last batch, whatever becomes of it. */
  readonly settle: () => Promise<void>
}

type Options = {
  readonly send: (batch: Batch) => Promise<void>
  readonly budget: Budget
  readonly signal: AbortSignal
}

const weightOf = (batch: Batch): number => batch.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * The batches of a session go out one after the other, each while the next one is read and encoded: so they arrive in the order of
 * the session, and what is stored of an interrupted one is its beginning. Sessions overlap.
 */
export const newSending = ({ send, budget, signal }: Options): Sending => {
  let running: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  const start = (batch: Batch, weight: number): void => {
    running = send(batch)
      .catch((error: unknown) => void (failure ??= { error }))
      .finally(() => budget.giveBack(weight))
  }
  const settle = async () => running
  const throwFailure = () => {
    signal.throwIfAborted()
    if (failure) throw failure.error
  }

  return {
    add: async (batch) => {
      await settle()
      const weight = weightOf(batch)
      await budget.take(weight)
      try {
        throwFailure()
      } catch (error) {
        budget.giveBack(weight)
        throw error
      }
      start(batch, weight)
    },
    finish: async () => {
      await settle()
      throwFailure()
    },
    settle,
  }
}
