import { once } from 'node:events'
import { Readable } from 'node:stream'
import pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import { within } from '../engine/within.ts'
import { isTransient } from '../postgres/connect.ts'

const PIECE_LENGTH = 64 * 1024
const AHEAD_BYTES = 256 * 1024
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
    const { readable, begun } = read(client as unknown as pg.Client, query, parts)
    const reading = guard(readable, (isWhole) => {
      readings.delete(reading)
      client.release(!isWhole) // one whose rows were not all read is not used again
    })
    readings.add(reading)
    try {
      await within(FIRST_MS, 'the database does not answer', begun)
      return readable
    } catch (error) {
      reading.cutOff()
      throw isTransient(error) ? new Unavailable('the database cannot be reached', false, error) : error
    }
  }

  return { stream }
}

/**
 * Rows become text as they arrive. While the reader takes nothing, nothing more is taken from the database's socket: what
 * waits here is bounded in bytes, however large the rows are.
 */
const read = <T>(client: pg.Client, { text, values }: Query, { before, toText, after }: Parts<T>) => {
  const { stream: socket } = (client as pg.Client & { connection: { stream: Readable } }).connection
  const rows = client.query(new pg.Query<Row>({ text, values }))
  const readable = new Readable({ highWaterMark: AHEAD_BYTES, read: () => void socket.resume() })
  let piece = before
  let separator = ''
  const take = (row: Row) => {
    const item = toText(row as T)
    if (item === undefined) return
    piece += separator + item
    separator = ','
    if (piece.length < PIECE_LENGTH) return
    if (!readable.push(piece)) socket.pause()
    piece = ''
  }
  // What is thrown here would be thrown in the driver, where nobody catches it.
  rows.on('row', (row) => {
    try {
      take(row)
    } catch (error) {
      readable.destroy(error as Error)
    }
  })
  rows.on('end', () => {
    readable.push(piece + after())
    readable.push(null)
  })
  rows.on('error', (error) => readable.destroy(error))
  readable.on('error', () => {}) // it may come before anybody reads
  const begun = Promise.race([once(rows, 'row'), once(rows, 'end')])
  return { readable, begun }
}

/** Gives the connection back once, when the answer has ended or is cut off. */
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
