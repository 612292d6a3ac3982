import type { EventStoreDBClient } from '@eventstore/db-client'
import { type ExpectedRevision, LogUnavailable } from '../log.ts'
import { type PendingAnswer, newPendingAnswer } from '../pending-answer.ts'
import type { ProposedEvent } from './append-request.ts'

/** What is to be appended; `stream` is the full name. */
export type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly ProposedEvent[]
}

/** An append that waits for its one answer, at most until its deadline. */
export type PendingAppend = Append &
  PendingAnswer & {
    /** The deadline, by `performance.now()`. */
    readonly end: number
    /** Answers it with LogUnavailable, as the deadline does; `stored` says what is known of the attempts. */
    readonly refuse: () => void
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
  const refuse = () => {
    if (append.inFlight) giveUp(append.inFlight)
    append.settle(new LogUnavailable(append.maybeStored || append.inFlight ? 'unknown' : false, append.lastError))
  }
  const state = { maybeStored: false, inFlight: undefined, lastError: undefined }
  const end = performance.now() + deadlineMs
  const append: PendingAppend = { ...what, ...newPendingAnswer(deadlineMs, refuse), end, refuse, ...state }
  return append
}
