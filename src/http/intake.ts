import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../engine/rejected.ts'
import { HttpError, invalid } from './errors.ts'
import { type Share, newRoom } from './room.ts'

const MiB = 1024 * 1024

/** What all bodies that are arriving may hold together. */
const ARRIVING_BYTES = 64 * MiB
/** What all bodies hold that are being worked on: parsed, checked and written out they take several times that. */
const AT_WORK_BYTES = 32 * MiB
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
export type Arrived = { readonly bytes: Buffer; done(): void }

/** Takes bodies in, so that all of them together stay within bounds, whoever sends them and however slowly. */
export type Intake = {
  /** @throws HttpError payload_too_large or rate_limited, Unavailable while the node has too many of them */
  read(payload: IncomingMessage, asked: Asked): Promise<Arrived>
}

type Arrival = { bytes: number; refuse(error: Error): void }

const tooLarge = () => new HttpError('payload_too_large', 'The request body is too large')
const tooMany = () => new HttpError('rate_limited', 'Too much of this session is under way; try again in 1 s')

export const newIntake = ({
  arriving = ARRIVING_BYTES,
  atWork = AT_WORK_BYTES,
  session = SESSION_BYTES,
} = {}): Intake => {
  const arrivals = new Set<Arrival>()
  const ofSessions = new Map<string, number>()
  const room = newRoom({ size: atWork, makeRoom: () => {}, full: 'too many bodies are being worked on' })
  let total = 0

  const count = (sessionId: string | undefined, bytes: number) => {
    if (sessionId === undefined) return
    const sum = (ofSessions.get(sessionId) ?? 0) + bytes
    if (sum > 0) ofSessions.set(sessionId, sum)
    else ofSessions.delete(sessionId)
  }

  /** The one that has been arriving for longest makes room: whoever sends slowly holds up nobody else. */
  const makeRoom = () => {
    for (const oldest of arrivals) {
      if (total <= arriving) return
      oldest.refuse(new Unavailable('too many bodies are arriving', false))
    }
  }

  const receive = (payload: IncomingMessage, { limit, sessionId }: Asked): Promise<Buffer> => {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const chunks: Buffer[] = []
    const arrival: Arrival = { bytes: 0, refuse: (error) => leave(() => reject(error)) }
    const leave = (then: () => void) => {
      if (!arrivals.delete(arrival)) return
      total -= arrival.bytes
      payload.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError)
      then()
    }
    const onData = (chunk: Buffer) => {
      chunks.push(chunk)
      arrival.bytes += chunk.length
      total += chunk.length
      if (arrival.bytes > limit) return arrival.refuse(tooLarge())
      if ((ofSessions.get(sessionId ?? '') ?? 0) + arrival.bytes > session) return arrival.refuse(tooMany())
      makeRoom()
    }
    const onEnd = () => leave(() => resolve(Buffer.concat(chunks)))
    const onClose = () => leave(() => reject(invalid(undefined, 'The body broke off')))
    const onError = (error: Error) => leave(() => reject(error))
    arrivals.add(arrival)
    payload.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError)
    return promise
  }

  const read = async (payload: IncomingMessage, asked: Asked): Promise<Arrived> => {
    if (Number(payload.headers['content-length'] ?? 0) > asked.limit) throw tooLarge()
    const bytes = await receive(payload, asked)
    if (bytes.length < SMALL_BYTES) return { bytes, done: () => {} }
    count(asked.sessionId, bytes.length)
    const share: Share = await room.take(bytes.length).catch((error: unknown) => {
      count(asked.sessionId, -bytes.length)
      throw error
    })
    let isDone = false
    const done = () => {
      if (isDone) return
      isDone = true
      share.giveBack()
      count(asked.sessionId, -bytes.length)
    }
    return { bytes, done }
  }

  return { read }
}
