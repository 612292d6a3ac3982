/**
 * The log: an append-only sequence of events in streams, the only truth of the service.
 * One port, several adapters; `test/log/contract.ts` is what every adapter must pass.
 */

import type { Metadata } from './metadata.ts'

/** Where an event stands in the whole log. Grows with every append; only Postgres has no gaps. */
export type Position = bigint

/** Where an event stands in its stream, from 0n. */
export type Revision = bigint

/** The revision that a stream must have for an append to pass; `'none'` for a stream without events. */
export type ExpectedRevision = Revision | 'none'

/** Bodies are JSON text. Adapters keep them to the letter and never look inside. */
export type NewEvent = {
  /** UUID in lower case, made by the writer: an append is repeated safely under the same ids. */
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  /** What the texts parse to, handed to followers in the writer's own process; absent on events read back. */
  readonly decoded?: { readonly data: object; readonly metadata: Metadata }
}

export type RecordedEvent = NewEvent & {
  readonly stream: string
  readonly revision: Revision
  readonly position: Position
}

export type Appended = { readonly revision: Revision; readonly position: Position }

/** Whole appends in log order; everything up to `through` has been seen, also what is not ours. */
export type Batch = { readonly events: readonly RecordedEvent[]; readonly through: Position }

/** Which log this is, and which history of it. Both are UUIDs. */
export type LogIdentity = {
  /** Made with the log, and kept by a restored backup. */
  readonly id: string
  /**
   * Another one whenever the end of the log may have been lost: after a failover, or where events are missing that had been
   * read. What was derived from the end of an earlier epoch has to be checked against the log.
   */
  readonly epoch: string
}

export type EventLog = {
  /**
   * Stores the events as one append: all or none, for every reader.
   * The same ids at the same expected revision again answer as the first time; only the ids count.
   * @throws WrongRevision when the stream has another revision; reads of the stream see all up to it from then on
   * @throws LogUnavailable when the log did not answer in time; `stored` says what is known
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>
  /** Events of a stream from `from` on, inclusive (default: the first, or the last when backwards). */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>
  /**
   * The revision of a stream's last record, also of one that readers do not see because its append was never finished.
   * A read of the stream that starts after this has seen everything up to there.
   */
  lastRevision(stream: string): Promise<ExpectedRevision>
  /** Events after a position, in log order, until the present end. */
  readAll(options: { readonly after: Position; readonly limit?: number }): AsyncIterable<RecordedEvent>
  /**
   * Ends with `signal` or with the log, resumes by itself after errors. Whole appends only, once `wholeAppends` is over
   * the adapter: an adapter alone may cut a large one between two batches.
   * @throws LogChanged when the epoch is no longer the one in which it began: positions may stand for other events
   */
  follow(options: { readonly after: Position; readonly signal: AbortSignal }): AsyncIterable<Batch>
  /** Erases the events of a stream below `before`; its last event always stays. */
  truncate(stream: string, before: Revision): Promise<void>
  /** The position of the last event, 0n for an empty log. Reads of any kind throw LogUnavailable, too. */
  head(): Promise<Position>
  /** Which log this is. @throws LogUnavailable */
  identity(): Promise<LogIdentity>
  /**
   * Whether the event at a position is this one: false also beyond the end; undefined where nothing stands any more,
   * because it was erased. @throws LogUnavailable
   */
  holds(position: Position, id: string): Promise<boolean | undefined>
  /**
   * Calls back when the log turns out to be in another epoch, before anything of it is read or appended to it: whatever
   * memory derives from the log has to go. Appends that were under way are answered with LogUnavailable.
   */
  onChange(listener: (identity: LogIdentity) => void): void
  /** What one append may weigh in bytes of data; larger ones are split above the adapter. */
  readonly maxAppendBytes: number
  /** Answers the appends that wait, ends the followers, lets go of all connections. */
  close(): Promise<void>
}

export type ReadOptions = { readonly from?: Revision; readonly backwards?: boolean; readonly limit?: number }

/**
 * Another writer appended first. `actual` is the revision that the stream has: a read of the stream that begins after
 * this error, through the same log, sees everything up to there, so that what it does not find is not in the stream.
 */
export class WrongRevision extends Error {
  override readonly name = 'WrongRevision'
  readonly stream: string
  readonly actual: ExpectedRevision

  constructor(stream: string, actual: ExpectedRevision) {
    super(`${stream} is at ${actual}`)
    this.stream = stream
    this.actual = actual
  }
}

/** The log cannot be reached, or did not answer in time. */
export class LogUnavailable extends Error {
  override readonly name = 'LogUnavailable'
  readonly stored: false | 'unknown'

  constructor(stored: false | 'unknown', cause?: unknown, message?: string) {
    super(message ?? (stored === false ? 'the log cannot be reached' : 'the log did not answer in time'), { cause })
    this.stored = stored
  }
}

/** The log is in another epoch than the one in which a reader began. */
export class LogChanged extends LogUnavailable {
  constructor() {
    super(false, undefined, 'the log is in another epoch: its end may have been lost')
  }
}

/** The revision before the first event, as a number that counts on. */
export const revisionNumber = (expected: ExpectedRevision): bigint => (expected === 'none' ? -1n : expected)
export const expectedOf = (revision: bigint): ExpectedRevision => (revision < 0n ? 'none' : revision)
