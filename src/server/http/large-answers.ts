import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Permits } from '../../base/permits.ts'
import { piecesOf, slicesOf } from '../../base/pieces.ts'
import { type Outlet, openOutlet } from './outlet.ts'

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

function* bytesOf(texts: readonly string[]): Generator<Buffer, void> {
  for (const piece of piecesOf(texts)) yield Buffer.from(piece)
}

/** Bounds the memory of all large answers that wait for their clients, such as pages of 8 MiB. */
export const installLargeAnswers = (app: FastifyInstance, { answers }: { readonly answers: Permits }): void => {
  const reserved = new WeakMap<FastifyReply, Outlet>()

  /** Begins an answer of this number of bytes, in the memory that was reserved for it. */
  const begin = async (reply: FastifyReply, bytes: number, pieces: Generator<Buffer, void>) => {
    const outlet = reserved.get(reply) ?? (await openOutlet(answers, reply, bytes))
    outlet.permit.resize(bytes)
    reply.header('content-length', bytes)
    return outlet.stream(pieces)
  }

  app.decorateReply('reserveMemory', async function (this: FastifyReply, bytes: number) {
    if (bytes < LARGE_BYTES || reserved.has(this)) return
    reserved.set(this, await openOutlet(answers, this, bytes))
  })

  app.decorateReply('sendTexts', async function (this: FastifyReply, texts: readonly string[]) {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters < LARGE_BYTES) return this.send(texts.join(''))
    const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    return this.send(await begin(this, length, bytesOf(texts)))
  })

  app.addHook('onSend', (_request, reply, payload, done) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload)
    const length = Buffer.byteLength(payload)
    if (length < LARGE_BYTES) {
      reserved.get(reply)?.permit.resize(length)
      return done(null, payload)
    }
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    begin(reply, length, slicesOf(bytes)).then((sent) => done(null, sent), done)
  })
}
