import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../engine/rejected.ts'
import { type BodyBytes, newBodyBytes } from './body-bytes.ts'
import { HttpError, invalid } from './http-error.ts'
import { type Share, newRoom } from './room.ts'

const MiB = 1024 * 1024

/** What all bodies that are arriving may hold together. */
const ARRIVING_BYTES = 32 * MiB
/** What all bodies hold that are being worked on: parsed, checked and written out they take several times that. */
const AT_WORK_BYTES = 16 * MiB
/** Two of the largest bodies. */
const SESSION_BYTES = 32 * MiB
/** A body below this costs less than to count it. */
const SMALL_BYTES = 64 * 1024

export type Asked = {
  /** At most so many bytes. */
  readonly limit: number
  /** Who sends it, if that is known: each may have so much under way at a time. */
  readonly sessionId: string | undefined
}

/** A body that has arrived; what it holds is given back when its request is done with. */
export type Arrived = { readonly bytes: BodyBytes; done(): void }

/** Takes bodies in, so that all of them together stay within bounds, whoever sends them and however slowly. */
export type Intake = {
  /** @throws HttpError payload_too_large or rate_limited, Unavailable while the node has too many of them */
  read(payload: IncomingMessage, asked: Asked): Promise<Arrived>
}

type Arrival = { readonly holder: string; bytes: number; refuse(error: Error): void }

/** Everybody without a session is one holder. */
const NOBODY = ''

const tooLarge = () => new HttpError('payload_too_large', 'The request body is too large')
const brokenOff = () => invalid(undefined, 'The body broke off')
const tooMany = () => new HttpError('rate_limited', 'Too much of this session is under way; try again in 1 s')

export const newIntake = ({
  arriving = ARRIVING_BYTES,
  atWork = AT_WORK_BYTES,
  session = SESSION_BYTES,
} = {}): Intake => {
  const arrivals = new Set<Arrival>()
  const held = new Map<string, number>()
  const room = newRoom({ size: atWork, makeRoom: () => {}, full: 'too many bodies are being worked on' })
  let total = 0

  const count = (holder: string, bytes: number) => {
    const sum = (held.get(holder) ?? 0) + bytes
    if (sum > 0) held.set(holder, sum)
    else held.delete(holder)
  }

  /** Who has the most under way makes room, with what has been arriving for longest: nobody pushes all others out. */
  const makeRoom = () => {
    while (total > arriving) {
      let most: Arrival | undefined
      for (const one of arrivals) if (!most || (held.get(one.holder) ?? 0) > (held.get(most.holder) ?? 0)) most = one
      if (!most) return
      most.refuse(new Unavailable('too many bodies are arriving', false))
    }
  }

  /** What has arrived stays counted as the holder's. */
  const receive = (payload: IncomingMessage, expected: number, limit: number, holder: string): Promise<BodyBytes> => {
    // While its sender was looked up it may have gone: then nothing of it comes any more, not even its end.
    if (payload.destroyed) return Promise.reject(brokenOff())
    const { promise, resolve, reject } = Promise.withResolvers<BodyBytes>()
    const received = newBodyBytes(expected)
    const arrival: Arrival = { holder, bytes: 0, refuse: (error) => fail(error) }
    const leave = (then: () => void) => {
      if (!arrivals.delete(arrival)) return
      total -= arrival.bytes
      payload.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError)
      then()
    }
    const fail = (error: Error) =>
      leave(() => {
        count(holder, -arrival.bytes)
        reject(error)
      })
    const onData = (chunk: Buffer) => {
      arrival.bytes += chunk.length
      total += chunk.length
      count(holder, chunk.length)
      if (arrival.bytes > limit) return fail(tooLarge())
      if (holder !== NOBODY && held.get(holder)! > session) return fail(tooMany())
      received.add(chunk)
      makeRoom()
    }
    const onEnd = () => leave(() => resolve(received.end()))
    const onClose = () => fail(brokenOff())
    const onError = onClose
    arrivals.add(arrival)
    payload.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError)
    return promise
  }

  const read = async (payload: IncomingMessage, { limit, sessionId: holder = NOBODY }: Asked): Promise<Arrived> => {
    const expected = Number(payload.headers['content-length'] ?? 0)
    if (expected > limit) throw tooLarge()
    const bytes = await receive(payload, expected, limit, holder)
    const { length } = bytes
    let share: Share | undefined
    let isDone = false
    const done = () => {
      if (isDone) return
      isDone = true
      share?.giveBack()
      count(holder, -length)
    }
    try {
      if (length >= SMALL_BYTES) share = await room.take(length)
      else done()
      return { bytes, done }
    } catch (error) {
      done()
      throw error
    }
  }

  return { read }
}
