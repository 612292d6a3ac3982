import type { IncomingMessage } from 'node:http'
import { Unavailable } from '../engine/rejected.ts'
import { type BodyBytes, newBodyBytes } from './body-bytes.ts'
import { HttpError, invalid, rateLimited } from './http-error.ts'
import { type Permit, newSemaphore } from './semaphore.ts'

const MiB = 1024 * 1024

/** The memory of all bodies that are arriving, or have arrived and wait for their turn. */
const ARRIVING_BYTES = 32 * MiB
/** The bytes of all bodies that are being processed: parsed, validated and serialized they take several times as much. */
const PROCESSING_BYTES = 16 * MiB
/** What one session may send at a time: two of the largest bodies. */
const SESSION_BYTES = 32 * MiB
/** Smaller bodies are not counted, because that would cost more than it saves. */
const SMALL_BYTES = 64 * 1024

export type IntakeOptions = {
  /** The maximal size of the body in bytes. */
  readonly limit: number
  /** The session of the caller, whose bodies are bounded together; undefined without one. */
  readonly sessionId: string | undefined
}

/** A body that has arrived. `done` has to be called at the end of its request, to release its memory. */
export type Arrived = { readonly bytes: BodyBytes; done(): void }

/** Reads the bodies of requests, and bounds the memory of all of them together. */
export type Intake = {
  /** @throws HttpError payload_too_large or rate_limited, Unavailable while there are too many bodies on this node */
  read(payload: IncomingMessage, options: IntakeOptions): Promise<Arrived>
}

/** A body until it is worked on. */
type Arrival = { readonly holder: string; bytes: number; refuse(error: Error): void }

/** The holder of all bodies that come without a session. */
const ANONYMOUS = ''

const tooLarge = () => new HttpError('payload_too_large', 'The request body is too large')
const brokenOff = () => invalid(undefined, 'The body broke off')
const tooManyArriving = () => new Unavailable('too many bodies are arriving', false)
const sessionHasTooMuch = () => rateLimited(1_000, 'Too much of this session is under way')

export const newIntake = ({
  arriving = ARRIVING_BYTES,
  processing = PROCESSING_BYTES,
  session = SESSION_BYTES,
} = {}): Intake => {
  const arrivals = new Set<Arrival>()
  const held = new Map<string, number>()
  const working = newSemaphore({
    capacity: processing,
    onShortage: () => {},
    message: 'too many bodies are being worked on',
  })
  let total = 0

  const count = (holder: string, bytes: number) => {
    const sum = (held.get(holder) ?? 0) + bytes
    if (sum > 0) held.set(holder, sum)
    else held.delete(holder)
  }

  const giveUp = (arrival: Arrival) => {
    if (!arrivals.delete(arrival)) return
    total -= arrival.bytes
    count(arrival.holder, -arrival.bytes)
  }

  /**
   * Refuses the body that has been arriving or waiting for longest, of the holder with the most bytes, so that no holder can
   * displace all others. All callers without a session are one holder.
   */
  const refuseOldestOfLargestHolder = () => {
    while (total > arriving) {
      let most: Arrival | undefined
      for (const one of arrivals) if (!most || (held.get(one.holder) ?? 0) > (held.get(most.holder) ?? 0)) most = one
      if (!most) return
      giveUp(most)
      most.refuse(tooManyArriving())
    }
  }

  /** Reads a whole body. */
  const receive = (
    payload: IncomingMessage,
    received: ReturnType<typeof newBodyBytes>,
    limit: number,
    arrival: Arrival,
  ): Promise<BodyBytes> => {
    // The client may have gone during authentication; then no event of the stream will come, not even its end.
    if (payload.destroyed) return Promise.reject(brokenOff())
    const { promise, resolve, reject } = Promise.withResolvers<BodyBytes>()
    const leave = () => payload.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onError)
    const fail = (error: Error) => {
      leave()
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      const { holder } = arrival
      arrival.bytes += chunk.length
      total += chunk.length
      count(holder, chunk.length)
      if (arrival.bytes > limit) return fail(tooLarge())
      if (holder !== ANONYMOUS && held.get(holder)! > session) return fail(sessionHasTooMuch())
      received.add(chunk)
      refuseOldestOfLargestHolder()
    }
    const onEnd = () => {
      leave()
      resolve(received.end())
    }
    const onClose = () => fail(brokenOff())
    const onError = onClose
    arrival.refuse = fail
    payload.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onError)
    return promise
  }

  /** Waits until a body may be worked on. */
  const waitForTurn = (arrival: Arrival): Promise<Permit> => {
    const refused = new AbortController()
    arrival.refuse = (error) => refused.abort(error)
    return working.acquire(arrival.bytes, refused.signal)
  }

  /** From now on a body counts as being worked on. Gives what ends that. @throws Unavailable if it was refused just before */
  const begin = (arrival: Arrival, permit: Permit) => {
    if (!arrivals.delete(arrival)) {
      permit.release()
      throw tooManyArriving()
    }
    total -= arrival.bytes
    let isDone = false
    return () => {
      if (isDone) return
      isDone = true
      permit.release()
      count(arrival.holder, -arrival.bytes)
    }
  }

  const read = async (
    payload: IncomingMessage,
    { limit, sessionId: holder = ANONYMOUS }: IntakeOptions,
  ): Promise<Arrived> => {
    const expected = Number(payload.headers['content-length'] ?? 0)
    if (expected > limit) throw tooLarge()
    const arrival: Arrival = { holder, bytes: 0, refuse: () => {} }
    arrivals.add(arrival)
    const received = newBodyBytes(expected)
    try {
      const bytes = await receive(payload, received, limit, arrival)
      if (bytes.length < SMALL_BYTES) {
        giveUp(arrival)
        return { bytes, done: () => {} }
      }
      return { bytes, done: begin(arrival, await waitForTurn(arrival)) }
    } catch (error) {
      giveUp(arrival)
      received.discard()
      throw error
    }
  }

  return { read }
}
