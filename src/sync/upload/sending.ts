import type { Budget } from './budget.ts'
import type { EncodedMessage } from './encode.ts'

type Batch = readonly EncodedMessage[]

/** The batches of one session that are on their way. */
export type Sending = {
  /**
   * Sends a batch as soon as there is room for it, and returns then, before it has arrived. Throws what an earlier batch threw,
   * and the reason of `signal`.
   */
  readonly add: (batch: Batch) => Promise<void>
  /** Waits for all batches. Throws what the first of them threw. */
  readonly finish: () => Promise<void>
  /** Waits for all batches, whatever becomes of them. */
  readonly settle: () => Promise<void>
}

type Options = {
  readonly send: (batch: Batch) => Promise<void>
  readonly budget: Budget
  /** What a batch takes of the budget at least, so that it bounds the requests too. */
  readonly least: number
  readonly signal: AbortSignal
}

const weightOf = (batch: Batch): number => batch.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * Batches of a session go out together: which arrives first does not matter, because each message has its order. Only a message
 * that is sent twice waits for its earlier version.
 */
export const newSending = ({ send, budget, least, signal }: Options): Sending => {
  const running = new Map<Promise<void>, ReadonlySet<string>>()
  let failure: { readonly error: unknown } | undefined

  const start = (batch: Batch, weight: number): void => {
    const sent = send(batch)
      .catch((error: unknown) => void (failure ??= { error }))
      .finally(() => {
        running.delete(sent)
        budget.giveBack(weight)
      })
    running.set(sent, new Set(batch.map(({ externalId }) => externalId)))
  }
  const settle = async () => void (await Promise.all(running.keys()))
  const throwFailure = () => {
    signal.throwIfAborted()
    if (failure) throw failure.error
  }

  return {
    add: async (batch) => {
      const isRepeated = batch.some(({ externalId }) => running.values().some((ids) => ids.has(externalId)))
      if (isRepeated) await settle()
      const weight = Math.max(least, weightOf(batch))
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
