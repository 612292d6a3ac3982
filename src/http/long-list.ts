import type { Caller } from './caller.ts'

/** Who reads a long list, and what it is a list of. */
export type Reader = {
  readonly caller: Pick<Caller, 'userId' | 'identityId' | 'sessionId' | 'expiresAt'> | undefined
  /** The namespace of what is read. */
  readonly namespaceId: string
  /** The trace whose messages are read; undefined for a list of the namespace's traces. */
  readonly traceId: string | undefined
  /** Whether the caller is a member of the namespace: then the visibility of a trace does not matter. */
  readonly isMember: boolean
}

/** A reader, and the ids of the traces that are shown by what is about to be sent. */
export type Sending = { readonly reader: Reader; readonly shows: (traceId: string) => boolean }

/** Whether an event forbids to go on with sending. */
export type EndsReading = (sending: Sending) => boolean

/** Some rows of a list, from one database snapshot. */
export type Chunk<Row> = {
  readonly rows: readonly Row[]
  /** About how many characters they hold. */
  readonly weight: number
  /** The checkpoint of the snapshot, where rows are traces. */
  readonly position?: bigint
}

/** @throws BrokenOff when the remaining rows do not match those that were sent */
export type Chunks<Row> = AsyncIterator<Chunk<Row>, void>

/** A list that is too long for one query: chunks, each of them a short query, are joined to one answer. */
export type LongList<Row> = {
  readonly reader: Reader
  /** The checkpoint of a snapshot in which the reader has the right to read. @throws 401, 404, Unavailable */
  check(): Promise<bigint>
  /** About how many characters a chunk holds. */
  readonly chunkWeight: number
  chunks(): Chunks<Row>
  /** The answer: `before`, the rows with commas between, `after`. A function is called when the first chunk is there. */
  readonly before: string | (() => string)
  /**
   * Undefined leaves a row out. Several texts are added without commas, and made one after the other, so that other work gets a
   * turn between two of them.
   */
  toText(row: Row): string | Iterable<string> | undefined
  /** Headers of the answer, its content type among them where it is not JSON. Called when the first chunk is there. */
  headers?(): Readonly<Record<string, string>>
  /** Whether all rows that are shown have been read. */
  isFull?(): boolean
  /** The id of the trace that a row shows, where rows are traces. */
  traceIdOf?(row: Row): string
  after(): string | Iterable<string>
}

/** A list cannot be sent to its end: the message says why. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}
