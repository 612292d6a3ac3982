import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import { type Permit, newSemaphore } from './semaphore.ts'

/** Smaller answers mostly fit into the buffers of the socket. */
const LARGE_BYTES = 256 * 1024
const CAPACITY_BYTES = 32 * 1024 * 1024
const STALL_MS = 30_000
const STALL_IN_SHORTAGE_MS = 1_000
const CHECK_INTERVAL_MS = 1_000

type PendingAnswer = { readonly raw: ServerResponse; readonly permit: Permit; written: number; since: number }

/** For how many milliseconds the client has read nothing. */
const stalledFor = (answer: PendingAnswer): number => {
  const written = answer.raw.socket?.bytesWritten ?? 0
  const waiting = answer.raw.socket?.writableLength ?? 0
  const taken = written - waiting
  if (taken !== answer.written) {
    answer.written = taken
    answer.since = performance.now()
  }
  return performance.now() - answer.since
}

/**
 * Bounds the memory of all large answers that wait for their clients, such as pages of 8 MiB. A client that reads nothing for
 * 30 s is cut off, after 1 s when other answers wait for memory.
 */
export const installLargeAnswers = (app: FastifyInstance, capacity = CAPACITY_BYTES): void => {
  const pending = new Set<PendingAnswer>()
  const cutStalled = (missing: number) => {
    let left = missing
    for (const answer of [...pending].sort((a, b) => stalledFor(b) - stalledFor(a))) {
      if (left <= 0 || stalledFor(answer) < STALL_IN_SHORTAGE_MS) return
      left -= answer.permit.size()
      answer.raw.destroy()
    }
  }
  const memory = newSemaphore({
    capacity,
    onShortage: cutStalled,
    message: 'too many large answers are being read',
  })
  const checking = setInterval(() => {
    for (const answer of [...pending]) if (stalledFor(answer) > STALL_MS) answer.raw.destroy()
  }, CHECK_INTERVAL_MS).unref()
  app.addHook('onClose', async () => clearInterval(checking))

  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return
    if (payload.length < LARGE_BYTES) return
    const permit = await memory.acquire(Buffer.byteLength(payload))
    const { raw } = reply
    if (raw.destroyed || raw.closed) return permit.release()
    const answer: PendingAnswer = { raw, permit, written: -1, since: performance.now() }
    pending.add(answer)
    const leave = () => {
      pending.delete(answer)
      permit.release()
    }
    raw.once('finish', leave).once('close', leave)
  })
}
