/**
 * The log: an append-only sequence of events in streams, from which everything else is derived. This is the port; every
 * adapter passes `test/eventstore/log/contract.ts`.
 */

import type { Metadata } from './metadata.ts'

/** The position of an event in the whole log. Grows with each event; without gaps only in PostgreSQL. */
export type Position = bigint

/** The number of an event in its stream, from 0n. */
export type Revision = bigint

/** The revision that a stream must have for an append to succeed; `'none'` for a stream without events. */
export type ExpectedRevision = Revision | 'none'

/** An event to be appended. `data` and `metadata` are JSON texts, which adapters store unchanged. */
export type NewEvent = {
  /** A UUID in lower case, made by the caller: an append can be repeated safely with the same ids. */
  readonly id: string
  readonly type: string
  readonly data: string
  readonly metadata: string
  /** The parsed texts. Only followers in the process that appended the event get them. */
  readonly decoded?: { readonly data: object; readonly metadata: Metadata }
}

/** What an adapter stores: an event, or a chunk of one that is too large for it (`chunks.ts`). */
export type StoredRecord = NewEvent & {
  readonly stream: string
  readonly revision: Revision
  readonly position: Position
}

/** An event of the log, put together from its records if it was stored in chunks. */
export type RecordedEvent = StoredRecord & {
  /** If it was stored in chunks, the revision of the first one; `revision` is that of the last. */
  readonly firstRevision?: Revision
}

/** An event by its position and id: a log without it there has lost its end, or is another one. */
export type Anchor = Pick<StoredRecord, 'position' | 'id'>

/** An event with its place in the whole log and in its stream. */
export type PlacedEvent = Anchor & Pick<StoredRecord, 'revision'>

export type Appended = { readonly revision: Revision; readonly position: Position }

/** Whole appends in log order. The next batch begins after `through`, which may be after the last event. */
export type Batch<Item = RecordedEvent> = { readonly events: readonly Item[]; readonly through: Position }

/** Which log this is, and which history of it. Both are UUIDs. */
export type LogIdentity = {
  /** Created with the log; a restored backup has the same id. */
  readonly id: string
  /**
   * Changes whenever the log may have lost its end: after a failover, if events are missing that were read before, or if an operator
   * says so. Data that was derived from events of an earlier epoch has to be checked against the log.
   */
  readonly epoch: string
}

/** Another epoch of a log, and whether the last event that this process has read is not in it. */
export type NewEpoch = LogIdentity & { readonly hasLostEnd: boolean }

/**
 * An adapter alone is an `EventLog<StoredRecord>`: its events are records, and those of an append that it could not store at once may
 * be incomplete. `wholeAppends` makes a log of it.
 */
export type EventLog<Item extends StoredRecord = RecordedEvent> = {
  /**
   * Stores the events as one append: every reader sees all of them or none. A repetition with the same ids at the same
   * expected revision returns the result of the first time; only the ids are compared.
   * @throws WrongRevision if the stream has another revision, which reads of the stream show from then on
   * @throws LogUnavailable if the log did not answer in time; `stored` says whether the events may be in the log
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>
  /** Events of a stream from `from` on, inclusive. Default: from the first one, or backwards from the last one. */
  read(stream: string, options?: ReadOptions): AsyncIterable<Item>
  /**
   * The events of a stream at these ascending revisions, without erased ones. Only for revisions of events that were read before,
   * because events of unfinished appends are returned as well.
   */
  readRevisions(stream: string, revisions: readonly Revision[]): AsyncIterable<Item>
  /**
   * A stream's last record, even if readers do not see it because its append was never finished. A read of the stream that
   * starts after this sees everything up to its revision. Undefined for a stream without events.
   */
  last(stream: string): Promise<LastRecord | undefined>
  /** Events after a position, in log order, up to the current end. */
  readAll(options: { readonly after: Position; readonly limit?: number }): AsyncIterable<Item>
  /**
   * Batches of events after a position, as they come, until `signal` aborts or the log is closed. Resumes by itself after errors.
   * Batches have whole appends; an adapter alone may cut a large one.
   */
  follow(options: { readonly after: Position; readonly signal: AbortSignal }): AsyncIterable<Batch<Item>>
  /**
   * Erases the events of a stream below the revision `before`, except the stream's last event. With `held`, the event that is the reason for
   * the erasure, erases only while the log holds it: a log that has lost its end may have other events at these revisions. PostgreSQL
   * checks this in the statement that erases, EventStoreDB before it.
   */
  truncate(stream: string, before: Revision, held?: Anchor): Promise<void>
  /** The position of the last event, 0n for an empty log. @throws LogUnavailable, like all reads */
  head(): Promise<Position>
  /** The log's identity, as it is stored now. @throws LogUnavailable, LogChanged if it is not what it was any more */
  identity(): Promise<LogIdentity>
  /**
   * Begins another epoch if the current one is still `seen`, and returns the identity after that. Every process on the log notices
   * it within a second, this one at once. @throws LogUnavailable
   */
  renewEpoch(seen: string): Promise<LogIdentity>
  /**
   * Whether the event at a position has this id. Also false beyond the end; undefined if the event was erased.
   * @throws LogUnavailable
   */
  holds(position: Position, id: string): Promise<boolean | undefined>
  /**
   * Calls back once, when the log's epoch has changed, before anything is read from it or appended. From then on every call throws LogChanged,
   * also those that are under way, because positions may belong to other events: whoever goes on drops everything that was derived from the log,
   * and opens it again.
   */
  onChange(listener: (epoch: NewEpoch) => void): void
  /** How many bytes of data one append may have; `wholeAppends` splits larger ones. */
  readonly maxAppendBytes: number
  /** Answers pending appends, ends the followers, closes all connections. */
  close(): Promise<void>
}

export type LastRecord = Pick<StoredRecord, 'revision' | 'position' | 'id'>

export type ReadOptions = { readonly from?: Revision; readonly backwards?: boolean; readonly limit?: number }

/**
 * The stream is not at the expected revision: another writer appended first. `actual` is its revision. A read of the stream through
 * the same log that begins after this error shows everything up to there.
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

/** The log's epoch has changed since it was opened. */
export class LogChanged extends LogUnavailable {
  constructor() {
    super(false, undefined, 'the log has another epoch: it may have lost its end')
  }
}

/** An expected revision as a number, -1n for `'none'`; and back. */
export const revisionNumber = (expected: ExpectedRevision): bigint => (expected === 'none' ? -1n : expected)
export const expectedOf = (revision: bigint): ExpectedRevision => (revision < 0n ? 'none' : revision)
