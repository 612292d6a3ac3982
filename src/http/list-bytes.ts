import { constants, createGzip } from 'node:zlib'
import { actAs, withPermit } from '../base/current-client.ts'
import type { Client, Permits } from '../base/permits.ts'
import type { Turns } from '../base/yielding.ts'
import type { RecentChanges } from '../engine/recent-changes.ts'
import { BrokenOff, type Chunk, type Chunks, type EndsReading, type LongList, type Texts } from './long-list.ts'
import type { OpenList } from './open-list.ts'
import type { ReadingRights } from './reading-rights.ts'

/** Compresses an answer piece by piece: the bytes of a piece can be read before the next piece comes. Works on threads of Node. */
const newGzipPieces = () => {
  const gzip = createGzip()
  let made: Buffer[] = []
  gzip.on('data', (bytes: Buffer) => made.push(bytes))

  const take = () => {
    const bytes = Buffer.concat(made)
    made = []
    return bytes
  }

  /** The compressed bytes of a piece. */
  const compress = (bytes: Buffer, isLast: boolean): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    gzip.once('error', reject)
    if (isLast) gzip.end(bytes).once('end', resolve)
    else {
      gzip.write(bytes)
      gzip.flush(constants.Z_SYNC_FLUSH, resolve)
    }
    return promise.then(take).finally(() => gzip.off('error', reject))
  }

  return { compress, close: () => gzip.destroy() }
}

/** A part of an answer that is large enough for a system call, with the ids of the traces in it. */
type Piece = { readonly bytes: Buffer; readonly traceIds: readonly string[] }

/** Joins rows to the text of a JSON array, in pieces. */
type Pieces = {
  add(row: string, traceId: string | undefined): void
  /** Adds text as it is, without a comma. */
  append(text: string): void
  isFull(): boolean
  isEmpty(): boolean
  /** The text since the last piece, followed by `end`. */
  take(end?: string): Piece
}

const LENGTH = 64 * 1024
/** The first piece is shorter, so that it is sent soon: a browser gets the head of a page, which names the files to load. */
const FIRST_LENGTH = 8 * 1024

const newPieces = (before: string): Pieces => {
  let text = before
  let separator = ''
  let traceIds: string[] = []
  let length = FIRST_LENGTH

  const add = (row: string, traceId: string | undefined) => {
    text += separator + row
    separator = ','
    if (traceId !== undefined) traceIds.push(traceId)
  }

  const append = (more: string) => {
    text += more
  }

  const take = (end = '') => {
    const piece = { bytes: Buffer.from(text + end), traceIds }
    text = ''
    traceIds = []
    length = LENGTH
    return piece
  }

  return { add, append, isFull: () => text.length >= length, isEmpty: () => text === '', take }
}

type ListBytesOptions = {
  readonly rights: ReadingRights
  readonly losses: RecentChanges<EndsReading>
  /** Bounds how many chunks are read from the database at the same time. */
  readonly reads: Permits
  readonly client: Client
  /** Bounds how long the list is processed in a turn of the event loop. */
  readonly turns: Turns
}

/** @throws BrokenOff if the list was broken off, or its reader has left */
export const assertOpen = (openList: OpenList): void => {
  const over = openList.over()
  if (over) throw new BrokenOff(over === 'left' ? 'the reader has closed the connection' : over.reason)
}

/** Reads the first chunk, and returns the bytes of the answer. Each later chunk is read when the client has read the one before it. */
export const openBytes = async <Row>(
  openList: OpenList,
  list: LongList<Row>,
  { rights, losses, reads, client, turns }: ListBytesOptions,
): Promise<AsyncGenerator<Buffer, void>> => {
  const chunks: Chunks<Row> = list.chunks()

  const nextChunk = async () => {
    openList.permit!.rest() // the reader waits for the database
    const { value: chunk } = await withPermit(reads, client, () => chunks.next())
    if (chunk) openList.permit!.resize(Math.max(list.chunkSize, chunk.size))
    return chunk
  }

  /** Whether the trace that a row shows has been deleted since the row was read. @throws BrokenOff after too many losses */
  const isGone = (row: Row, position: bigint | undefined) => {
    if (!list.traceIdOf || position === undefined) return false
    const id = list.traceIdOf(row)
    const sending = { reader: openList.reader, shows: (traceId: string) => traceId === id }
    const outcome = losses.since(position, (ends) => ends(sending))
    if (outcome === 'unknown') throw new BrokenOff('too much has been deleted while its reader waited')
    return outcome === 'changed'
  }

  const gzip = list.isCompressed === true ? newGzipPieces() : undefined

  async function* bytes(first: Chunk<Row> | void) {
    const { before } = list
    const pieces = newPieces(typeof before === 'string' ? before : before())
    /** Takes the joined rows for sending, and records which traces they show. */
    const release = async (end?: string) => {
      const { bytes, traceIds } = pieces.take(end)
      const sent = gzip ? await gzip.compress(bytes, end !== undefined) : bytes
      openList.sends(sent.length, traceIds)
      await rights.ensure(openList)
      assertOpen(openList)
      return sent
    }
    /** Yields the joined rows. From then on the list waits for its reader. */
    async function* give(end?: string) {
      const piece = await release(end)
      openList.permit!.moved(0)
      yield piece
      openList.permit!.moved(piece.length)
      openList.permit!.rest()
    }
    /** Adds texts as they are made, and stops if the reader may not read the list any more. */
    async function* append(texts: Texts) {
      for await (const text of texts) {
        pieces.append(text)
        if (pieces.isFull()) yield* give()
        await turns.take(client)
        assertOpen(openList)
      }
    }
    if (pieces.isFull()) yield* give()
    for (let chunk = first; chunk; chunk = list.isFull?.() ? undefined : await nextChunk()) {
      for (const row of chunk.rows) {
        await turns.take(client)
        if (isGone(row, chunk.position)) continue
        const text = list.toText(row)
        if (typeof text === 'object') yield* append(text)
        else if (text !== undefined) pieces.add(text, list.traceIdOf?.(row))
        if (pieces.isFull()) yield* give()
      }
      if (!pieces.isEmpty()) yield* give()
    }
    const after = list.after()
    if (typeof after === 'object') yield* append(after)
    yield* give(typeof after === 'string' ? after : '')
  }

  /** Makes each piece for the client of the list: the turn of the event loop in which it is asked for belongs to the socket. */
  async function* closing(all: AsyncGenerator<Buffer, void>) {
    try {
      for (;;) {
        const next = await actAs(client, () => all.next())
        if (next.done) return
        yield next.value
      }
    } finally {
      await actAs(client, () => all.return())
      gzip?.close()
    }
  }

  const first = await nextChunk()
  assertOpen(openList)
  return closing(bytes(first))
}
