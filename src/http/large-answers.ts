import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Permit, Permits } from '../base/permits.ts'
import { acquireUntilOver, whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Waits for the memory of an answer of about this number of bytes before it is made, so that answers that wait to be sent do not
     * pile up. @throws Busy if too many answers are being read; Unavailable if the client has left
     */
    reserveMemory(bytes: number): Promise<void>
    /**
     * Sends texts one after another; none of them may end within a character. A large answer is never joined: each text becomes
     * bytes when the client has read those before it. @throws as `reserveMemory`
     */
    sendTexts(texts: readonly string[]): Promise<FastifyReply>
  }
}

/** Smaller answers mostly fit into the buffers of the socket. */
export const LARGE_BYTES = 256 * 1024
/** Large answers are written in pieces: each piece that the system takes shows that the client is still reading. */
const PIECE_BYTES = 64 * 1024
/** A client that reads nothing for so long is cut off, even if no other client waits. */
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

/** Each piece is made when the client has read the one before it. */
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

  const enter = async (reply: FastifyReply, bytes: number): Promise<Permit> => {
    const permit = await acquireUntilOver(answers, reply, bytes, () => reply.raw.destroy())
    permit.rest() // until it is made
    held.set(reply, permit)
    whenOver(reply.raw, () => held.delete(reply))
    return permit
  }

  /** Begins an answer of this number of bytes, in the memory that was reserved for it. */
  const begin = async (reply: FastifyReply, bytes: number): Promise<Permit> => {
    const reserved = held.get(reply)
    reserved?.resize(bytes)
    const permit = reserved ?? (await enter(reply, bytes))
    reply.header('content-length', bytes)
    reply.raw.setTimeout(STALL_MS, () => reply.raw.destroy())
    return permit
  }

  app.decorateReply('reserveMemory', async function (this: FastifyReply, bytes: number) {
    if (bytes < LARGE_BYTES || held.has(this)) return
    await enter(this, bytes)
  })

  app.decorateReply('sendTexts', async function (this: FastifyReply, texts: readonly string[]) {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters < LARGE_BYTES) return this.send(texts.join(''))
    const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    return this.send(streamOf(bytesOf(texts), await begin(this, length)))
  })

  /** A large payload as a stream. */
  const inParts = async (reply: FastifyReply, payload: string | Buffer, length: number) => {
    const permit = await begin(reply, length)
    return streamOf(slicesOf(typeof payload === 'string' ? Buffer.from(payload) : payload), permit)
  }

  app.addHook('onSend', (_request, reply, payload, done) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload)
    const length = Buffer.byteLength(payload)
    if (length < LARGE_BYTES) {
      held.get(reply)?.resize(length)
      return done(null, payload)
    }
    inParts(reply, payload, length).then((sent) => done(null, sent), done)
  })
}
