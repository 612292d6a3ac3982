import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { newRecentChanges } from '../engine/recent-changes.ts'
import { Unavailable } from '../engine/rejected.ts'
import { HttpError } from './http-error.ts'
import { openBytes } from './list-bytes.ts'
import { BrokenOff, type EndsReading, type LongList } from './long-list.ts'
import { type Reading, newReading } from './open-list.ts'
import { newReadingRights } from './reading-rights.ts'
import { JSON_TYPE } from './reply.ts'
import { newSemaphore } from './semaphore.ts'

/** What is made before the client has taken what was made: enough for a socket, little beside a page. */
const AHEAD_BYTES = 64 * 1024
/** Four lists that are read whole, or 64 that are read in pages. */
const CAPACITY = 32 * 1024 * 1024
/** Few, so that other queries get a connection soon. */
const PAGES_AT_ONCE = 4
/** A client in trouble recovers in this time, or not at all. */
const STALL_MS = 30_000
/** A client that reads takes something each second. */
const STALL_IN_SHORTAGE_MS = 1_000
/** For one that takes something now and then, and so never stalls. */
const MAX_DURATION_MS = 15 * 60_000
/** Far below the second within which a list ends when its reader has lost the right. */
const CHECK_INTERVAL_MS = 100
/** More than happen while a page is read; a list that is behind even that is broken off. */
const REMEMBERED_LOSSES = 5_000

/**
 * Sends long lists. No database connection is held between two pages. A list is broken off when its reader reads nothing for 30
 * s, or for 1 s when others wait for memory; after 15 minutes; and within a second when the reader loses the right to read, on
 * any node. The client then sees a broken transfer, never a well-formed end.
 */
export type LongLists = {
  /** Answers with a list. @throws before anything is sent: errors of its first page, Unavailable without free memory */
  send<Row>(reply: FastifyReply, list: LongList<Row>): Promise<FastifyReply>
  /** Does a piece of work of an answer among the pages of lists: only so many of them are made at the same time. @throws Unavailable */
  turn<T>(work: () => Promise<T>): Promise<T>
  /** Breaks off the lists whose readers lose their right by an event. Called for each event before its write is answered. */
  observe(event: { readonly position: bigint; readonly ends: EndsReading | undefined }): void
  /** Breaks off all lists. Called when it is not known who has lost a right. */
  clear(): void
  /** The same for a log in another epoch, where positions begin anew. */
  restart(): void
}

export type LongListsOptions = {
  /** The clock, in milliseconds. */
  readonly now: () => number
  /** False while this node does not follow the log: then the rights of readers are queried again and again. */
  readonly isCurrent: () => boolean
  /** How many characters all lists together may hold in memory. */
  readonly capacity?: number
}

/** Why a list must be broken off now, by the clock; undefined when it need not. */
const timeoutOf = ({ reader, since, opened }: Reading, now: number): string | undefined => {
  const time = performance.now()
  if ((reader.caller?.expiresAt ?? Infinity) <= now) return 'the session of its reader has expired'
  if (time - since > STALL_MS) return 'its reader has stopped reading'
  return time - opened > MAX_DURATION_MS ? 'its reader is too slow' : undefined
}

/** Breaks off the lists whose readers have read nothing for longest, and for at least a second. */
const cutStalled = (readings: Iterable<Reading>, missing: number) => {
  let left = missing
  for (const reading of [...readings].sort((a, b) => a.since - b.since)) {
    if (left <= 0 || performance.now() - reading.since < STALL_IN_SHORTAGE_MS) return
    if (!reading.permit) continue
    left -= reading.permit.size()
    reading.breakOff('its reader has stopped reading, and others wait')
  }
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof HttpError) return 'its reader may not read it any more'
  return error instanceof BrokenOff || error instanceof Unavailable ? error.message : undefined
}

const FULL = 'too many long lists are being read'

export const newLongLists = ({ now, isCurrent, capacity = CAPACITY }: LongListsOptions): LongLists => {
  const readings = new Set<Reading>()
  const losses = newRecentChanges<EndsReading>(REMEMBERED_LOSSES)
  const rights = newReadingRights(isCurrent, losses)
  const turns = newSemaphore({ capacity: PAGES_AT_ONCE, onShortage: () => {}, message: FULL })
  const memory = newSemaphore({ capacity, onShortage: (missing) => cutStalled(readings, missing), message: FULL })
  let checking: NodeJS.Timeout | undefined

  const fail = (reading: Reading, error: unknown) => reading.breakOff(reasonOf(error) ?? 'something broke on our side')

  const checkAll = () => {
    for (const reading of [...readings]) {
      const reason = timeoutOf(reading, now())
      if (reason) reading.breakOff(reason)
      else if (reading.readable) rights.ensure(reading).catch((error: unknown) => fail(reading, error))
    }
  }

  const leave = (reading: Reading) => {
    readings.delete(reading)
    if (readings.size > 0) return
    clearInterval(checking)
    checking = undefined
  }

  const enter = <Row>(reply: FastifyReply, list: LongList<Row>) => {
    const reading = newReading(list, reply, leave)
    readings.add(reading)
    checking ??= setInterval(checkAll, CHECK_INTERVAL_MS).unref()
    for (const end of ['finish', 'close']) reply.raw.once(end, reading.leave)
    return reading
  }

  const open = async <Row>(reading: Reading, list: LongList<Row>) => {
    reading.permit = await memory.acquire(list.pageWeight)
    if (reading.over()) reading.permit.release()
    await rights.confirm(reading)
    return openBytes(reading, list, { rights, losses, turns })
  }

  /** Breaks off the answer on an error, because its status has been sent already. */
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
      await list.check() // throws when the reader may not read it any more
      throw new Unavailable(error.message)
    }
    return reply.headers({ 'content-type': JSON_TYPE, ...list.headers?.() }).send(reading.readable)
  }

  const turn: LongLists['turn'] = async (work) => {
    const permit = await turns.acquire(1)
    return work().finally(permit.release)
  }

  const observe: LongLists['observe'] = ({ position, ends }) => {
    if (!ends) return
    losses.note(position, ends)
    for (const reading of [...readings]) if (ends(reading)) reading.breakOff('its reader may not read it any more')
  }

  const clear = () => {
    for (const reading of [...readings]) reading.breakOff('it is not known any more who may read it')
  }

  const restart = () => {
    losses.restart()
    clear()
  }

  return { send, turn, observe, clear, restart }
}
