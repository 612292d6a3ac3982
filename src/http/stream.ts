import { Readable } from 'node:stream'
import Cursor from 'pg-cursor'
import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import { within } from '../engine/within.ts'
import { isTransient } from '../postgres/connect.ts'

const FETCH_ROWS = 50
const FIRST_MS = 8_000
const STALL_MS = 30_000
const STALL_IN_A_CROWD_MS = 1_000
const LONGEST_MS = 15 * 60_000
const LOOK_AGAIN_MS = 200

/** How rows become an answer; a row whose text is undefined is left out. */
type Parts<T> = { before: string; toText: (row: T) => string | undefined; after: () => string }

type Query = { readonly text: string; readonly values: unknown[] }

/** Long answers are read from connections of their own, a few at a time: slow readers must not take those of others. */
export type Streams = {
  /**
   * A JSON answer of unknown length: `before`, the rows as `toText` writes them with commas between, `after`.
   * All rows come from one snapshot. A reader that takes nothing for 30 s is cut off, after 1 s when others wait.
   * @throws Unavailable
   */
  stream<T>(query: Query, parts: Parts<T>): Promise<Readable>
}

/** An answer that is being read: when somebody took something of it last (ms), and its end. */
type Reading = { readonly since: () => number; readonly cutOff: () => void }

type Row = Record<string, unknown>

export const newStreams = (pool: pg.Pool): Streams => {
  const readings = new Set<Reading>()

  /** Whoever has taken nothing for longest makes room. */
  const makeRoom = () => {
    if (readings.size < pool.options.max) return
    const [stalest] = [...readings].sort((a, b) => a.since() - b.since())
    if (stalest && performance.now() - stalest.since() > STALL_IN_A_CROWD_MS) stalest.cutOff()
  }

  const connect = async () => {
    makeRoom()
    const again = setInterval(makeRoom, LOOK_AGAIN_MS)
    try {
      return await pool.connect()
    } catch (error) {
      throw new Unavailable('too many long lists are being read', false, error)
    } finally {
      clearInterval(again)
    }
  }

  const stream = async <T>(query: Query, parts: Parts<T>) => {
    const client = await connect()
    const { cursor, first } = await open(client, query)
    const readable = Readable.from(pages(cursor, first, parts), { objectMode: false, highWaterMark: 256 * 1024 })
    const reading = guard(readable, (isWhole) => {
      readings.delete(reading)
      client.release(!isWhole)
    })
    readings.add(reading)
    return readable
  }

  return { stream }
}

const open = async (client: pg.PoolClient, { text, values }: Query) => {
  try {
    const cursor = client.query(new Cursor<Row>(text, values))
    return { cursor, first: await within(FIRST_MS, 'the database does not answer', cursor.read(FETCH_ROWS)) }
  } catch (error) {
    client.release(true)
    throw isTransient(error) ? new Unavailable('the database cannot be reached', false, error) : error
  }
}

async function* pages<T>(cursor: Cursor<Row>, first: Row[], { before, toText, after }: Parts<T>) {
  let text = before
  let separator = ''
  for (let rows = first; rows.length > 0; rows = await cursor.read(FETCH_ROWS)) {
    for (const row of rows as T[]) {
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

/**
 * Gives the connection back once, when the answer has ended or is cut off. One whose rows were not all read is not used
 * again: its server may not answer any more.
 */
const guard = (readable: Readable, giveBack: (isWhole: boolean) => void): Reading => {
  let since = performance.now()
  let isOpen = true
  const end = (isWhole: boolean) => {
    if (!isOpen) return
    isOpen = false
    clearTimeout(stalled)
    clearTimeout(longest)
    giveBack(isWhole)
  }
  const cutOff = () => {
    end(false)
    readable.destroy(new Error('the reader has stopped reading'))
  }
  const stalled = setTimeout(cutOff, STALL_MS)
  const longest = setTimeout(cutOff, LONGEST_MS)
  readable.on('data', () => {
    since = performance.now()
    stalled.refresh()
  })
  readable.pause()
  readable.once('close', () => end(readable.readableEnded))
  return { since: () => since, cutOff }
}
