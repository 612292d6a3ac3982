import type { EventStoreDBClient } from '@eventstore/db-client'
import { attemptMs } from '../../../base/waits.ts'
import { type ExpectedRevision, LogUnavailable } from '../log.ts'
import { type PendingAnswer, newPendingAnswer } from '../pending-answer.ts'
import type { ProposedEvent } from './append-request.ts'

/** The events to append; `stream` is the full name. */
type Append = {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly ProposedEvent[]
}

/** An append that waits for its one answer until its deadline. */
export type PendingAppend = Append &
  PendingAnswer & {
    /** The deadline, by `performance.now()`. */
    readonly end: number
    /** How long an attempt may take: a server that is silent must leave time for another one. */
    readonly attemptMs: number
    /** Answers with LogUnavailable, as the deadline does; `stored` is what the attempts so far say. */
    readonly refuse: () => void
    /** Whether an attempt that got no answer may have been stored. */
    maybeStored: boolean
    /** The client of the attempt without an answer. */
    inFlight: EventStoreDBClient | undefined
    lastError: unknown
  }

/** `giveUp` is called with the client of an attempt without an answer at the deadline. */
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
  const answer = newPendingAnswer(deadlineMs, refuse)
  const append: PendingAppend = { ...what, ...answer, end, attemptMs: attemptMs(deadlineMs), refuse, ...state }
  return append
}
