import type { Budget, Turn } from './turns.ts'
import { bytesOf } from './batches.ts'
import type { EncodedMessage } from './encode.ts'

type Batch = readonly EncodedMessage[]

/** The batches of one session. */
export type Sending = {
  /**
   * Sends a batch once there is room for it, the one before has arrived, and `prepare` has returned true; does not wait until it has
   * arrived. Returns false, and sends nothing, if `prepare` returns false. Throws what an earlier batch or `prepare` threw, and the
   * reason of `signal`.
   */
  readonly add: (batch: Batch, prepare: () => Promise<boolean>) => Promise<boolean>
  /** Waits for the last batch. Throws what the first that failed threw. */
  readonly finish: () => Promise<void>
  /** Waits for the last batch, also if it fails. */
  readonly settle: () => Promise<void>
}

type Send = (batch: Batch) => Promise<void>

/** Makes a queue of batches from a function that sends one. */
export type NewSending = (send: Send) => Sending

type Options = {
  readonly send: Send
  readonly budget: Budget
  /** The turn of the session; other sessions have theirs while this one waits for the service. */
  readonly turn: Turn
  readonly signal: AbortSignal
}

/**
 * The batches of a session go out one after the other, each while the next one is read and encoded: so they arrive in the order of
 * the session, and what is stored of an interrupted one is its beginning. Sessions overlap. A batch waits for room within the turn,
 * so that only those sessions whose turn it is have one more batch in memory.
 */
export const newSending = ({ send, budget, turn, signal }: Options): Sending => {
  let running: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  const start = (batch: Batch, bytes: number): void => {
    running = send(batch)
      .catch((error: unknown) => void (failure ??= { error }))
      .finally(() => budget.giveBack(bytes))
  }
  const settle = async () => running
  const throwFailure = () => {
    signal.throwIfAborted()
    if (failure) throw failure.error
  }

  return {
    add: async (batch, prepare) => {
      const bytes = bytesOf(batch)
      await budget.take(bytes)
      let isStarted = false
      try {
        return await turn.pausedFor(async () => {
          await settle()
          throwFailure()
          if (!(await prepare())) return false
          isStarted = true
          start(batch, bytes)
          return true
        })
      } finally {
        if (!isStarted) budget.giveBack(bytes)
      }
    },
    finish: async () => {
      await turn.pausedFor(settle)
      throwFailure()
    },
    settle,
  }
}
