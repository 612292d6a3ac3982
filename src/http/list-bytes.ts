import type { RecentChanges } from '../engine/recent-changes.ts'
import { newYielding } from '../yielding.ts'
import { BrokenOff, type EndsReading, type LongList, type Page, type Pages } from './long-list.ts'
import { newPieces } from './pieces.ts'
import type { Reading } from './open-list.ts'
import type { ReadingRights } from './reading-rights.ts'
import type { Semaphore } from './semaphore.ts'

export type ListBytesOptions = {
  readonly rights: ReadingRights
  readonly losses: RecentChanges<EndsReading>
  /** Bounds how many pages are read from the database at the same time. */
  readonly turns: Semaphore
}

/** @throws BrokenOff when the list has been broken off, or its reader has gone */
const assertGoesOn = (reading: Reading): void => {
  const over = reading.over()
  if (over) throw new BrokenOff(over === 'left' ? 'its reader has left' : over.reason)
}

/** Reads the first page. Returns the bytes of the answer; each further page is read when the client has read the one before. */
export const openBytes = async <Row>(
  reading: Reading,
  list: LongList<Row>,
  { rights, losses, turns }: ListBytesOptions,
): Promise<AsyncGenerator<Buffer, void>> => {
  const pages: Pages<Row> = list.pages()

  const nextPage = async () => {
    reading.since = Infinity // the reader waits for the database
    const turn = await turns.acquire(1)
    try {
      const { value: page } = await pages.next()
      if (page) reading.permit!.resize(Math.max(list.pageWeight, page.weight))
      return page
    } finally {
      turn.release()
      reading.since = performance.now()
    }
  }

  /** Whether the trace that a row shows has been deleted since the row was read. @throws BrokenOff after too many losses */
  const isGone = (row: Row, position: bigint | undefined) => {
    if (!list.traceIdOf || position === undefined) return false
    const id = list.traceIdOf(row)
    const sending = { reader: reading.reader, shows: (traceId: string) => traceId === id }
    const outcome = losses.since(position, (ends) => ends(sending))
    if (outcome === 'unknown') throw new BrokenOff('too much has been deleted while its reader waited')
    return outcome === 'changed'
  }

  async function* bytes(first: Page<Row> | void) {
    const { before } = list
    const pieces = newPieces(typeof before === 'string' ? before : before())
    const yieldWhenDue = newYielding()
    /** Takes the joined rows for sending, and records which traces they show. */
    const release = async (end?: string) => {
      const piece = pieces.take(end)
      reading.sends(piece.bytes.length, piece.traceIds)
      reading.since = performance.now()
      await rights.ensure(reading)
      assertGoesOn(reading)
      return piece.bytes
    }
    /** Adds texts as they are made. Nothing more is made for a reader that may not read it. */
    async function* append(texts: Iterable<string>) {
      for (const text of texts) {
        pieces.append(text)
        if (pieces.isFull()) yield await release()
        await yieldWhenDue()
        assertGoesOn(reading)
      }
    }
    for (let page = first; page; page = list.isFull?.() ? undefined : await nextPage()) {
      for (const row of page.rows) {
        if (isGone(row, page.position)) continue
        const text = list.toText(row)
        if (typeof text === 'object') yield* append(text)
        else if (text !== undefined) pieces.add(text, list.traceIdOf?.(row))
        if (pieces.isFull()) yield await release()
      }
      if (!pieces.isEmpty()) yield await release()
    }
    const after = list.after()
    if (typeof after === 'object') yield* append(after)
    yield await release(typeof after === 'string' ? after : '')
  }

  const first = await nextPage()
  assertGoesOn(reading)
  return bytes(first)
}
