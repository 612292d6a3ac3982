import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { DecodedEvent } from '../engine/projection.ts'
import { Unavailable } from '../engine/rejected.ts'
import { HttpError } from './http-error.ts'
import { openBytes } from './list-bytes.ts'
import { BrokenOff, type LongList } from './long-list.ts'
import { type Reading, newReading } from './reading.ts'
import { newReadingRights } from './reading-rights.ts'
import { newRecentLosses } from './recent-losses.ts'
import { JSON_TYPE } from './reply.ts'
import { newRoom } from './room.ts'

const AHEAD_BYTES = 64 * 1024
const ROOM = 32 * 1024 * 1024
const PAGES_AT_ONCE = 4
const STALL_MS = 30_000
const STALL_IN_A_CROWD_MS = 1_000
const LONGEST_MS = 15 * 60_000
const LOOK_MS = 100

/**
 * Long answers while they are being read. No connection to the database is held between two pages. A reader that takes
 * nothing for 30 s is cut off, after 1 s when others wait for room; after 15 minutes in any case. So is one that loses
 * the right to read, within a second, whichever node that happens on. The client of a list that was cut off sees a
 * broken transfer, never a well-formed end.
 */
export type Streams = {
  /** Answers with a list. @throws what hinders its first page, before anything is sent; Unavailable without room */
  send<Row>(reply: FastifyReply, list: LongList<Row>): Promise<FastifyReply>
  /** Cuts off the readers that an event takes the right from. Called for each event before its write is answered. */
  observe(event: DecodedEvent): void
  /** Cuts off all readers: something has happened that this node does not understand. */
  clear(): void
  /** The same for a log that is another one now, or has lost its end: positions mean something else. */
  restart(): void
}

export type StreamsOptions = {
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node hears nothing of the log: then the rights of readers are looked up again and again. */
  readonly isAlive: () => boolean
  /** How many characters all lists together may make this node hold. */
  readonly room?: number
}

/** Why a list that is being read must end, by the clock. */
const overdue = ({ reader, since, opened }: Reading, now: number): string | undefined => {
  const time = performance.now()
  if ((reader.caller?.expiresAt ?? Infinity) <= now) return 'the session of its reader has expired'
  if (time - since > STALL_MS) return 'its reader has stopped reading'
  return time - opened > LONGEST_MS ? 'its reader is too slow' : undefined
}

/** The readers that have taken nothing for longest, of those that have not for a second, make room. */
const makeRoom = (readings: Iterable<Reading>, missing: number) => {
  let left = missing
  for (const reading of [...readings].sort((a, b) => a.since - b.since)) {
    if (left <= 0 || performance.now() - reading.since < STALL_IN_A_CROWD_MS) return
    if (!reading.share) continue
    left -= reading.share.size()
    reading.breakOff('its reader has stopped reading, and others wait')
  }
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof HttpError) return 'its reader may not read it any more'
  return error instanceof BrokenOff || error instanceof Unavailable ? error.message : undefined
}

const FULL = 'too many long lists are being read'

export const newStreams = ({ now, isAlive, room: size = ROOM }: StreamsOptions): Streams => {
  const readings = new Set<Reading>()
  const losses = newRecentLosses()
  const rights = newReadingRights(isAlive, losses)
  const turns = newRoom({ size: PAGES_AT_ONCE, makeRoom: () => {}, full: FULL })
  const room = newRoom({ size, makeRoom: (missing) => makeRoom(readings, missing), full: FULL })
  let looking: NodeJS.Timeout | undefined

  const fail = (reading: Reading, error: unknown) => reading.breakOff(reasonOf(error) ?? 'something broke on our side')

  const look = () => {
    for (const reading of [...readings]) {
      const reason = overdue(reading, now())
      if (reason) reading.breakOff(reason)
      else if (reading.readable) rights.sure(reading).catch((error: unknown) => fail(reading, error))
    }
  }

  const leave = (reading: Reading) => {
    readings.delete(reading)
    if (readings.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  const enter = <Row>(reply: FastifyReply, list: LongList<Row>) => {
    const reading = newReading(list, reply, leave)
    readings.add(reading)
    looking ??= setInterval(look, LOOK_MS).unref()
    for (const end of ['finish', 'close']) reply.raw.once(end, reading.leave)
    return reading
  }

  const open = async <Row>(reading: Reading, list: LongList<Row>) => {
    reading.share = await room.take(list.pageWeight)
    if (reading.over()) reading.share.giveBack()
    await rights.confirm(reading)
    return openBytes(reading, list, { rights, losses, turns })
  }

  /** An answer that has begun cannot become an error any more: it is broken off. */
  async function* guarded(reply: FastifyReply, reading: Reading, bytes: AsyncIterable<Buffer>) {
    try {
      yield* bytes
    } catch (error) {
      if (!reasonOf(error)) reply.log.error({ err: error }, 'a list cannot be made')
      fail(reading, error)
      if (reply.raw.headersSent && !reply.raw.closed) await once(reply.raw, 'close').catch(() => {})
      throw new Unavailable('the list was broken off', false, error)
    }
  }

  const send = async <Row>(reply: FastifyReply, list: LongList<Row>) => {
    const reading = enter(reply, list)
    try {
      const bytes = guarded(reply, reading, await open(reading, list))
      reading.readable = Readable.from(bytes, { objectMode: false, highWaterMark: AHEAD_BYTES })
    } catch (error) {
      reading.leave()
      if (!(error instanceof BrokenOff)) throw error
      await list.check() // says so if the reader may not read any more
      throw new Unavailable(error.message)
    }
    return reply.type(JSON_TYPE).send(reading.readable)
  }

  const observe = (event: DecodedEvent) => {
    const ends = losses.note(event)
    if (!ends) return
    for (const reading of [...readings]) if (ends(reading)) reading.breakOff('its reader may not read it any more')
  }

  const clear = () => {
    for (const reading of [...readings]) reading.breakOff('it is not known any more who may read it')
  }

  const restart = () => {
    losses.restart()
    clear()
  }

  return { send, observe, clear, restart }
}
