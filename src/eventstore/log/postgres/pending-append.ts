import { LogUnavailable, type NewEvent } from '../log.ts'
import { type PendingAnswer, newPendingAnswer } from '../pending-answer.ts'
import { NotDurable } from './connection.ts'
import { type NewRow, rowsOf } from './rows.ts'

/** The events to append, all or none. */
export type Append = {
  readonly stream: string
  /** The revision that the stream must have, -1n for none. */
  readonly expected: bigint
  readonly events: readonly NewEvent[]
}

/** An append that waits for its one answer until its deadline. */
export type PendingAppend = Append &
  PendingAnswer & {
    /** The length of all data and metadata. */
    readonly characters: number
    /** Its events as rows. They are made from the beginning on, while the append waits for its turn. */
    readonly rows: readonly NewRow[] | Promise<readonly NewRow[]>
    /** Whether it is in a statement that has not been answered. */
    inFlight: boolean
    /** Whether an earlier statement with it got no answer, so that it may be stored. */
    maybeStored: boolean
  }

/** Answers an append with LogUnavailable, because it was not stored, or is not known to be. */
export const giveUp = (append: PendingAppend, cause: unknown): void => {
  const stored = append.maybeStored || append.inFlight ? 'unknown' : false
  append.settle(new LogUnavailable(stored, cause, cause instanceof NotDurable ? cause.message : undefined))
}

/** At its deadline the append fails, with `lastError` as the cause. `onSettled` is called once it has succeeded or failed. */
export const newPendingAppend = (
  what: Append,
  deadlineMs: number,
  { lastError, onSettled }: { readonly lastError: () => unknown; readonly onSettled: (append: PendingAppend) => void },
): PendingAppend => {
  const characters = what.events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0)
  const rows = rowsOf(what.events) // first, because after an error here the timer of the answer would be left running
  const answer = newPendingAnswer(
    deadlineMs,
    () => giveUp(append, lastError()),
    () => onSettled(append),
  )
  if (rows instanceof Promise) rows.catch(() => {}) // the statement with the rows reports an error; an append that is given up has none
  const append: PendingAppend = { ...what, ...answer, characters, rows, inFlight: false, maybeStored: false }
  return append
}
