import type { RecentChanges } from '../engine/recent-changes.ts'
import type { Turns } from '../base/yielding.ts'
import { BrokenOff, type Chunk, type Chunks, type EndsReading, type LongList } from './long-list.ts'
import { newPieces } from './pieces.ts'
import type { OpenList } from './open-list.ts'
import type { ReadingRights } from './reading-rights.ts'
import { type Client, type Permits, withPermit } from '../base/permits.ts'

export type ListBytesOptions = {
  readonly rights: ReadingRights
  readonly losses: RecentChanges<EndsReading>
  /** Bounds how many chunks are read from the database at the same time. */
  readonly reads: Permits
  readonly client: Client
  /** Bounds what is made in a turn of the event loop. */
  readonly turns: Turns
}

/** @throws BrokenOff when the list has been broken off, or its reader has gone */
const assertGoesOn = (openList: OpenList): void => {
  const over = openList.over()
  if (over) throw new BrokenOff(over === 'left' ? 'its reader has left' : over.reason)
}

/** Reads the first chunk. Returns the bytes of the answer; each further chunk is read when the client has read the one before. */
export const openBytes = async <Row>(
  openList: OpenList,
  list: LongList<Row>,
  { rights, losses, reads, client, turns }: ListBytesOptions,
): Promise<AsyncGenerator<Buffer, void>> => {
  const chunks: Chunks<Row> = list.chunks()

  const nextChunk = async () => {
    openList.permit!.rest() // the reader waits for the database
    const { value: chunk } = await withPermit(reads, client, () => chunks.next())
    if (chunk) openList.permit!.resize(Math.max(list.chunkWeight, chunk.weight))
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

  async function* bytes(first: Chunk<Row> | void) {
    const { before } = list
    const pieces = newPieces(typeof before === 'string' ? before : before())
    /** Takes the joined rows for sending, and records which traces they show. */
    const release = async (end?: string) => {
      const piece = pieces.take(end)
      openList.sends(piece.bytes.length, piece.traceIds)
      await rights.ensure(openList)
      assertGoesOn(openList)
      return piece.bytes
    }
    /** Sends them: only then the reader is waited for. */
    async function* give(end?: string) {
      const piece = await release(end)
      openList.permit!.moved(0)
      yield piece
      openList.permit!.moved(piece.length)
      openList.permit!.rest()
    }
    /** Adds texts as they are made. Nothing more is made for a reader that may not read it. */
    async function* append(texts: Iterable<string>) {
      for (const text of texts) {
        pieces.append(text)
        if (pieces.isFull()) yield* give()
        await turns.take(client)
        assertGoesOn(openList)
      }
    }
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

  const first = await nextChunk()
  assertGoesOn(openList)
  return bytes(first)
}
