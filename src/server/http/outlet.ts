import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { actAs } from '../../base/current-client.ts'
import { Busy, type Permit, type Permits } from '../../base/permits.ts'
import { PIECE_LENGTH } from '../../base/pieces.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { HttpError } from './http-error.ts'
import { BrokenOff } from './long-list.ts'
import { clientOf } from './node-permits.ts'
import { acquireUntilOver, whenOver } from './when-over.ts'

/** A client that reads nothing for so long is cut off, even if no other client waits. */
const STALL_MS = 30_000

/** The pieces of an answer, each made when the one before it was taken. */
type Made = Generator<Buffer, void> | AsyncGenerator<Buffer, void>

/**
 * Where a large answer goes out, piece by piece: it holds memory for what is made and not sent yet. It is broken off if its client reads nothing
 * for 30 seconds, or too slowly while others wait for memory. The client then sees a broken transfer, never a well-formed end.
 */
export type Outlet = {
  /** The memory that the answer holds, in bytes. */
  readonly permit: Permit
  /** @throws BrokenOff if the answer was broken off, or its client has left */
  assertOpen(): void
  /** The answer as a stream. An error in making a piece breaks it off. */
  stream(pieces: Made): Readable
}

/**
 * Resets the connection, so that the client sees that the answer is not complete: after a normal end an HTTP/1.0 client would take it for complete,
 * and the kernel would still send what it has buffered.
 */
const reset = ({ raw }: FastifyReply) => {
  const { socket } = raw
  if (socket?.remoteAddress && !socket.destroyed) socket.resetAndDestroy()
  else raw.destroy()
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof HttpError) return 'its reader may not read it any more'
  return error instanceof BrokenOff || error instanceof Unavailable || error instanceof Busy ? error.message : undefined
}

/**
 * Waits for the memory of an answer, which is given back when the answer is over. `about`: what its line in the log names if it is broken off.
 * @throws Busy if there was no room in time; Unavailable if the client has left
 */
export const openOutlet = async (
  answers: Permits,
  reply: FastifyReply,
  bytes: number,
  about: object = {},
): Promise<Outlet> => {
  const { raw, request, log } = reply
  const client = clientOf(request)
  let over: string | undefined

  const breakOff = (reason: string) => {
    if (over !== undefined) return
    over = reason
    permit.release()
    log.info(about, `an answer was broken off: ${reason}`)
    if (raw.headersSent) reset(reply)
  }

  const onYield = () => breakOff('its reader reads too slowly, and others wait')
  const permit = await acquireUntilOver(answers, reply, bytes, onYield)
  permit.rest() // until the first piece is made
  whenOver(raw, () => (over ??= 'its reader has closed the connection'))

  const assertOpen = () => {
    if (over !== undefined) throw new BrokenOff(over)
  }

  /** Breaks off the answer on an error, because its status has been sent already. */
  const fail = async (error: unknown) => {
    const reason = reasonOf(error)
    if (reason === undefined) log.error({ err: error }, 'an answer cannot be made')
    breakOff(reason ?? 'the service has a fault')
    if (raw.headersSent && !raw.closed) await once(raw, 'close').catch(() => {})
    throw new Unavailable('the answer was broken off', false, error)
  }

  /** Makes each piece for the client of the answer: the turn of the event loop in which it is asked for belongs to the socket. */
  async function* paced(pieces: Made) {
    try {
      for (;;) {
        const next = await actAs(client, () => pieces.next())
        assertOpen()
        if (next.done) return
        permit.moved(0) // from now on it waits for its reader
        yield next.value
        permit.moved(next.value.length)
        permit.rest()
      }
    } catch (error) {
      await fail(error)
    } finally {
      await actAs(client, () => pieces.return())
    }
  }

  const stream: Outlet['stream'] = (pieces) => {
    raw.setTimeout(STALL_MS, () => breakOff('its reader has stopped reading'))
    return Readable.from(paced(pieces), { objectMode: false, highWaterMark: PIECE_LENGTH })
  }

  return { permit, assertOpen, stream }
}
