import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Unavailable } from '../engine/rejected.ts'
import { type MinPace, type Progress, isTooSlow, newProgress, stalledFor, taken } from './reading-pace.ts'
import { type Permit, newSemaphore } from './semaphore.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Waits for the memory of an answer of about so many bytes before it is made, so that no answers pile up that are waiting
     * to be sent. @throws Unavailable when too many large answers are being read, or the client has left
     */
    reserveMemory(bytes: number): Promise<void>
    /**
     * Sends texts one after another, none of which ends within a character. Where they are a large answer they are never joined: each becomes bytes when the client
     * has taken those before. @throws Unavailable as `reserveMemory`
     */
    sendTexts(texts: readonly string[]): Promise<FastifyReply>
  }
}

/** Smaller answers mostly fit into the buffers of the socket. */
export const LARGE_BYTES = 256 * 1024
const CAPACITY_BYTES = 32 * 1024 * 1024
/** Large answers are written in pieces: each that the system takes shows that the client goes on reading. */
const PIECE_BYTES = 64 * 1024
const STALL_MS = 30_000
/** Others wait 5 s for memory at most. */
const PACE_IN_SHORTAGE: MinPace = { graceMs: 1_000, bytesPerMs: 2_000 }
const CHECK_INTERVAL_MS = 1_000

/** `progress` is undefined while the answer is being made. */
type PendingAnswer = { readonly reply: FastifyReply; readonly permit: Permit; progress: Progress | undefined }

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

/** Notes the progress of an answer by its pieces: each is asked for when the one before has been taken. */
function* noting(pieces: Iterable<Buffer>, answer: PendingAnswer) {
  let progress = newProgress()
  let sent = 0
  for (const piece of pieces) {
    progress = taken(progress, sent)
    answer.progress = progress
    yield piece
    sent += piece.length
  }
}

const streamOf = (pieces: Iterable<Buffer>, answer: PendingAnswer): Readable =>
  Readable.from(noting(pieces, answer), { objectMode: false, highWaterMark: PIECE_BYTES })

/**
 * Bounds the memory of all large answers that wait for their clients, such as pages of 8 MiB. A client that reads nothing for
 * 30 s is cut off; while other answers wait for memory, one that reads nothing for 1 s, or too little.
 */
export const installLargeAnswers = (app: FastifyInstance, capacity = CAPACITY_BYTES): void => {
  const pending = new Map<FastifyReply, PendingAnswer>()

  const stall = ({ progress }: PendingAnswer) => (progress ? stalledFor(progress) : 0)

  const cutSlow = (missing: number) => {
    let left = missing
    for (const answer of [...pending.values()].sort((a, b) => stall(b) - stall(a))) {
      if (left <= 0) return
      if (!answer.progress || !isTooSlow(answer.progress, PACE_IN_SHORTAGE)) continue
      left -= answer.permit.size()
      answer.reply.raw.destroy()
    }
  }
  const memory = newSemaphore({
    capacity,
    onShortage: cutSlow,
    message: 'too many large answers are being read',
  })
  const checking = setInterval(() => {
    for (const answer of pending.values()) if (stall(answer) > STALL_MS) answer.reply.raw.destroy()
  }, CHECK_INTERVAL_MS).unref()
  app.addHook('onClose', async () => clearInterval(checking))

  /** Undefined when the client has left meanwhile. */
  const enter = async (reply: FastifyReply, bytes: number): Promise<PendingAnswer | undefined> => {
    const permit = await memory.acquire(bytes)
    const { raw } = reply
    if (raw.destroyed || raw.closed) {
      permit.release()
      return undefined
    }
    const answer: PendingAnswer = { reply, permit, progress: undefined }
    pending.set(reply, answer)
    const leave = () => {
      pending.delete(reply)
      permit.release()
    }
    raw.once('finish', leave).once('close', leave)
    return answer
  }

  /** Begins an answer of so many bytes, with the memory that was reserved for it. Undefined when the client has left. */
  const begin = async (reply: FastifyReply, bytes: number): Promise<PendingAnswer | undefined> => {
    const reserved = pending.get(reply)
    reserved?.permit.resize(bytes)
    const answer = reserved ?? (await enter(reply, bytes))
    if (answer) reply.header('content-length', bytes)
    return answer
  }

  app.decorateReply('reserveMemory', async function (this: FastifyReply, bytes: number) {
    if (bytes < LARGE_BYTES || pending.has(this)) return
    if (!(await enter(this, bytes))) throw new Unavailable('the client has left')
  })

  app.decorateReply('sendTexts', async function (this: FastifyReply, texts: readonly string[]) {
    const characters = texts.reduce((sum, text) => sum + text.length, 0)
    if (characters < LARGE_BYTES) return this.send(texts.join(''))
    const length = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const answer = await begin(this, length)
    if (!answer) throw new Unavailable('the client has left')
    return this.send(streamOf(bytesOf(texts), answer))
  })

  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const length = Buffer.byteLength(payload)
    if (length < LARGE_BYTES) {
      pending.get(reply)?.permit.resize(length)
      return payload
    }
    const answer = await begin(reply, length)
    return answer ? streamOf(slicesOf(typeof payload === 'string' ? Buffer.from(payload) : payload), answer) : payload
  })
}
