import type { EventStoreDBClient } from '@eventstore/db-client'
import { type Appended, type ExpectedRevision, LogUnavailable } from '../log.ts'
import type { ProposedEvent } from './append-request.ts'

/** What is to be appended; `stream` is the full name. */
export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly ProposedEvent[]
}

/** An append that waits for its one answer, at most until its deadline. */
export type PendingAppend = Append & {
  /** The deadline, by `performance.now()`. */
  readonly end: number
  readonly answered: Promise<Appended>
  /** Answers it; only the first call counts. */
  readonly settle: (outcome: Appended | Error) => void
  /** Answers it with LogUnavailable, as the deadline does; `stored` says what is known of the attempts. */
  readonly refuse: () => void
  settled: boolean
  /** Whether an attempt that got no answer may have been stored. */
  maybeStored: boolean
  /** The client of the attempt that has not been answered. */
  inFlight: EventStoreDBClient | undefined
  lastError: unknown
}

/** `giveUp` is called with the client of an attempt that has got no answer by the deadline. */
export const newPendingAppend = (
  what: Append,
  deadlineMs: number,
  giveUp: (client: EventStoreDBClient) => void,
): PendingAppend => {
  const { promise: answered, resolve, reject } = Promise.withResolvers<Appended>()
  const settle = (outcome: Appended | Error) => {
    if (append.settled) return
    append.settled = true
    clearTimeout(deadline)
    if (outcome instanceof Error) reject(outcome)
    else resolve(outcome)
  }
  const refuse = () => {
    if (append.inFlight) giveUp(append.inFlight)
    settle(new LogUnavailable(append.maybeStored || append.inFlight ? 'unknown' : false, append.lastError))
  }
  const state = { settled: false, maybeStored: false, inFlight: undefined, lastError: undefined }
  const append: PendingAppend = { ...what, end: performance.now() + deadlineMs, answered, settle, refuse, ...state }
  const deadline = setTimeout(refuse, deadlineMs)
  return append
}
