import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Unavailable } from '../engine/rejected.ts'
import type { Permit, Permits } from '../base/permits.ts'
import { clientOf } from './node-permits.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Waits for the memory of an answer of about so many bytes before it is made, so that no answers pile up that are waiting
     * to be sent. @throws Busy when too many are being read, Unavailable when the client has left
     */
    reserveMemory(bytes: number): Promise<void>
    /**
     * Sends texts one after another, none of which ends within a character. Where they are a large answer they are never joined: each becomes bytes when the client
     * has taken those before. @throws as `reserveMemory`
     */
    sendTexts(texts: readonly string[]): Promise<FastifyReply>
  }
}

/** Smaller answers mostly fit into the buffers of the socket. */
export const LARGE_BYTES = 256 * 1024
/** Large answers are written in pieces: each that the system takes shows that the client goes on reading. */
const PIECE_BYTES = 64 * 1024
/** A client that takes nothing for so long is cut off, also when nobody waits. */
export const STALL_MS = 30_000

function* slicesOf(bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) yield bytes.subarray(start, start + PIECE_BYTES)
}

function* bytesOf(texts: readonly string[]) {
  let piece = ''
  for (const text of texts) {
    piece += text
    if (piece.length < PIECE_BYTES) continue
    yield Buffer.from(piece)
    piece = ''
  }
  yield Buffer.from(piece)
}

/** Each piece is asked for when the client has taken the one before. */
function* noting(pieces: Iterable<Buffer>, permit: Permit) {
  let sent = 0
  for (const piece of pieces) {
    permit.moved(sent)
    yield piece
    sent = piece.length
  }
}

const streamOf = (pieces: Iterable<Buffer>, permit: Permit): Readable =>
  Readable.from(noting(pieces, permit), { objectMode: false, highWaterMark: PIECE_BYTES })

/** Bounds the memory of all large answers that wait for their clients, such as pages of 8 MiB. */
export const installLargeAnswers = (app: FastifyInstance, { answers }: { readonly answers: Permits }): void => {
  const held = new Map<FastifyReply, Permit>()

  /** Undefined when the client has left meanwhile. */
  const enter = async (reply: FastifyReply, bytes: number): Promise<Permit | undefined> => {
    const { raw } = reply
    const permit = await answers.acquire(clientOf(reply.request), bytes, () => raw.destroy())
    if (raw.destroyed || raw.closed) {
      permit.release()
      return undefined
    }
    permit.rest() // until it is made
    held.set(reply, permit)
    const leave = () => {
      held.delete(reply)
      permit.release()
    }
    raw.once('finish', leave).once('close', leave)
    return permit
  }

  /** Begins an answer of so many bytes, with the memory that was reserved for it. Undefined when the client has left. */
  const begin = async (reply: FastifyReply, bytes: number): Promise<Permit | undefined> => {
    const reserved = held.get(reply)
    reserved?.resize(bytes)
    const permit = reserved ?? (await enter(reply, bytes))
    if (!permit) return undefined
    reply.header('content-length', bytes)
    reply.raw.setTimeout(STALL_MS, () => reply.raw.destroy())
    return permit
  }

  app.decorateReply('reserveMemory', async function (this: FastifyReply, bytes: number) {
    if (bytes < LARGE_BYTES || held.has(this)) return
    if (!(await enter(this, bytes))) throw new Unavailable('the client has left')
  })

  app.decorateReply('sendTexts', async function (this: FastifyReply, texts: readonly string[]) {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters < LARGE_BYTES) return this.send(texts.join(''))
    const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const permit = await begin(this, length)
    if (!permit) throw new Unavailable('the client has left')
    return this.send(streamOf(bytesOf(texts), permit))
  })

  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const length = Buffer.byteLength(payload)
    if (length < LARGE_BYTES) {
      held.get(reply)?.resize(length)
      return payload
    }
    const permit = await begin(reply, length)
    return permit ? streamOf(slicesOf(typeof payload === 'string' ? Buffer.from(payload) : payload), permit) : payload
  })
}
