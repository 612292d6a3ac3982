import { Readable } from 'node:stream'
import Cursor from 'pg-cursor'
import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'

const FETCH_ROWS = 50
const STALL_MS = 30_000

/** How rows become an answer; a row whose text is undefined is left out. */
type Parts<T> = { before: string; toText: (row: T) => string | undefined; after: () => string }

/** Long answers are read from connections of their own, a few at a time: slow readers must not take those of others. */
export type Streams = {
  /**
   * A JSON answer of unknown length: `before`, the rows as `toText` writes them with commas between, `after`.
   * All rows come from one snapshot; a reader that takes nothing for 30 s is cut off.
   */
  stream<T>(query: { text: string; values: unknown[] }, parts: Parts<T>): Promise<Readable>
}

export const newStreams = (pool: pg.Pool): Streams => ({
  stream: async <T>({ text, values }: { text: string; values: unknown[] }, parts: Parts<T>) => {
    const client = await pool.connect().catch((error: unknown) => {
      throw new Unavailable('too many long lists are being read', false, error)
    })
    const cursor = client.query(new Cursor<Record<string, unknown>>(text, values))
    let first: T[]
    try {
      first = (await cursor.read(FETCH_ROWS)) as T[]
    } catch (error) {
      client.release(true)
      throw error
    }
    const readable = Readable.from(pages(cursor, first, parts), { objectMode: false, highWaterMark: 256 * 1024 })
    guard(readable, () => {
      cursor.close().then(
        () => client.release(),
        () => client.release(true),
      )
    })
    return readable
  },
})

async function* pages<T>(
  cursor: Cursor<Record<string, unknown>>,
  first: T[],
  { before, toText, after }: Parts<T>,
): AsyncGenerator<string> {
  let text = before
  let separator = ''
  for (let rows = first; rows.length > 0; rows = (await cursor.read(FETCH_ROWS)) as T[]) {
    for (const row of rows) {
      const item = toText(row)
      if (item === undefined) continue
      text += separator + item
      separator = ','
    }
    if (text) yield text
    text = ''
  }
  yield text + after()
}

/** Gives the connection back when the answer has ended, however it did, and ends it when nobody reads on. */
const guard = (readable: Readable, release: () => void) => {
  const cutOff = () => readable.destroy(new Error('the reader has stopped reading'))
  const timer = setTimeout(cutOff, STALL_MS)
  readable.on('data', () => timer.refresh())
  readable.pause()
  readable.once('close', () => {
    clearTimeout(timer)
    release()
  })
}
