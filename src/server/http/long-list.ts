import type { Caller } from './caller.ts'

/** The reader of a long list, and what the list shows. */
export type Reader = {
  readonly caller: Pick<Caller, 'userId' | 'identityId' | 'sessionId' | 'expiresAt'> | undefined
  /** The namespace of the traces or the trace. */
  readonly namespaceId: string
  /** The trace whose messages are read; undefined for a list of the namespace's traces. */
  readonly traceId: string | undefined
  /** Whether the caller is a member of the namespace, who may read a trace of any visibility. */
  readonly isMember: boolean
  /** Other traces of the namespace of which the answer shows something. */
  readonly linked?: readonly LinkedTrace[]
}

/** A trace from its creation to its deletion. */
export type LinkedTrace = { readonly id: string; readonly createdAt: bigint }

/** Some rows of a list, from one database snapshot. */
export type Chunk<Row> = {
  readonly rows: readonly Row[]
  /** The approximate number of their characters. */
  readonly size: number
}

/** @throws BrokenOff if the remaining rows do not match those that were sent */
export type Chunks<Row> = AsyncIterator<Chunk<Row>, void>

/** Texts that are made one after the other, here or on a thread. */
export type Texts = Iterable<string> | AsyncIterable<string>

/** A list that is too long for one query: its chunks, each read by a short query, are joined to one answer. */
export type LongList<Row> = {
  readonly reader: Reader
  /** The checkpoint of a snapshot in which the reader has the right to read. @throws HttpError unauthorized, not_found; Unavailable */
  check(): Promise<bigint>
  /** The approximate number of characters of a chunk. */
  readonly chunkSize: number
  chunks(): Chunks<Row>
  /**
   * The answer is `before`, the rows separated by commas, and `after`. A function is called when the first chunk has been read. A long
   * text, such as the head of a page, is sent before any row is made.
   */
  readonly before: string | (() => string)
  /**
   * The text of a row; undefined leaves the row out. Several texts are added without commas, and made one after the other, so that
   * other work gets a turn between two of them.
   */
  toText(row: Row): string | Texts | undefined
  /** Whether it is compressed with gzip, which its headers have to say. Only for answers that are the same for every reader, so that the length reveals nothing. */
  readonly isCompressed?: boolean
  /** Headers of the answer, with its content type if it is not JSON. Called when the first chunk has been read. */
  headers?(): Readonly<Record<string, string>>
  /** Whether all rows that are shown have been read. */
  isFull?(): boolean
  after(): string | Texts
}

/** A list cannot be sent to its end. The message says why. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}
