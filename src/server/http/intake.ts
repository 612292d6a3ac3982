import type { IncomingMessage } from 'node:http'
import type { Client, Permit } from '../../base/permits.ts'
import { type BodyBytes, newBodyBytes } from './body-bytes.ts'
import { HttpError, invalid } from './http-error.ts'
import type { NodePermits } from './node-permits.ts'

/** Smaller bodies are not counted once they have arrived: counting them would cost more than it saves. */
const SMALL_BYTES = 64 * 1024

type IntakeOptions = {
  /** The maximum size of the body, in bytes. */
  readonly limit: number
  readonly client: Client
}

/** A body that has arrived. `done` has to be called at the end of the request, to release the memory. */
export type Arrived = { readonly bytes: BodyBytes; done(): void }

/** Reads the bodies of requests, and bounds the memory of all of them together. */
type Intake = {
  /** @throws HttpError payload_too_large; Busy while this node has too many bodies */
  read(payload: IncomingMessage, options: IntakeOptions): Promise<Arrived>
}

const tooLarge = (limit: number) =>
  new HttpError('payload_too_large', `The body has more than ${limit / 1_048_576} MiB: send less in one request`)
export const BROKEN_OFF = 'The connection broke off before the body was complete: send the request again'
const brokenOff = () => invalid(undefined, BROKEN_OFF)

type Arrival = { readonly permit: Permit; readonly limit: number; readonly refused: AbortSignal }

/** Reads a whole body. */
const receive = (
  payload: IncomingMessage,
  received: ReturnType<typeof newBodyBytes>,
  { permit, limit, refused }: Arrival,
): Promise<BodyBytes> => {
  // If the client has left during authentication, the stream emits nothing any more, not even its end.
  if (payload.destroyed) return Promise.reject(brokenOff())
  const { promise, resolve, reject } = Promise.withResolvers<BodyBytes>()
  const leave = () => {
    payload.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
    refused.removeEventListener('abort', onRefused)
  }
  const fail = (error: Error) => {
    leave()
    reject(error)
  }
  const onRefused = () => fail(refused.reason as Error)
  const onData = (chunk: Buffer) => {
    if (permit.size() + chunk.length > limit) return fail(tooLarge(limit))
    received.add(chunk)
    permit.moved(chunk.length)
    permit.resize(permit.size() + chunk.length)
  }
  const onEnd = () => {
    leave()
    resolve(received.end())
  }
  const onClose = () => fail(brokenOff())
  refused.addEventListener('abort', onRefused, { once: true })
  payload.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  return promise
}

export const newIntake = ({ bodies, work }: Pick<NodePermits, 'bodies' | 'work'>): Intake => {
  const read = async (payload: IncomingMessage, { limit, client }: IntakeOptions): Promise<Arrived> => {
    const expected = Number(payload.headers['content-length'] ?? 0)
    if (expected > limit) throw tooLarge(limit)
    const refusing = new AbortController()
    const permit = await bodies.acquire(client, 0, (reason) => refusing.abort(reason))
    const received = newBodyBytes(expected)
    try {
      const bytes = await receive(payload, received, { permit, limit, refused: refusing.signal })
      if (bytes.length < SMALL_BYTES) return { bytes, done: () => {} }
      permit.rest()
      const turn = await work.acquire(client, bytes.length, undefined, refusing.signal)
      return { bytes, done: turn.release }
    } catch (error) {
      received.discard()
      throw error
    } finally {
      permit.release()
    }
  }

  return { read }
}
