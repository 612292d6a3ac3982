import type { FastifyInstance } from 'fastify'
import type { ServerResponse } from 'node:http'
import { type Share, newRoom } from './room.ts'

/** A smaller answer fits into the buffers of its socket, mostly. */
const LARGE_BYTES = 256 * 1024
const ROOM_BYTES = 32 * 1024 * 1024
const STALL_MS = 30_000
const STALL_IN_A_CROWD_MS = 1_000
const LOOK_MS = 1_000

type Reading = { readonly raw: ServerResponse; readonly share: Share; written: number; since: number }

/** Since when its reader has taken nothing, in milliseconds. */
const stalledFor = (reading: Reading): number => {
  const written = reading.raw.socket?.bytesWritten ?? 0
  const waiting = reading.raw.socket?.writableLength ?? 0
  const taken = written - waiting
  if (taken !== reading.written) {
    reading.written = taken
    reading.since = performance.now()
  }
  return performance.now() - reading.since
}

/**
 * Bounds what answers hold that are made at once and read slowly, as pages of 8 MiB may be: all of them together have
 * so much room, and who takes nothing for 30 s is cut off, after 1 s when others wait.
 */
export const installLargeAnswers = (app: FastifyInstance, room = ROOM_BYTES): void => {
  const readings = new Set<Reading>()
  const makeRoom = (missing: number) => {
    let left = missing
    for (const reading of [...readings].sort((a, b) => stalledFor(b) - stalledFor(a))) {
      if (left <= 0 || stalledFor(reading) < STALL_IN_A_CROWD_MS) return
      left -= reading.share.size()
      reading.raw.destroy()
    }
  }
  const shares = newRoom({ size: room, makeRoom, full: 'too many large answers are being read' })
  const looking = setInterval(() => {
    for (const reading of [...readings]) if (stalledFor(reading) > STALL_MS) reading.raw.destroy()
  }, LOOK_MS).unref()
  app.addHook('onClose', async () => clearInterval(looking))

  app.addHook('onSend', async (_request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return
    if (payload.length < LARGE_BYTES) return
    const share = await shares.take(Buffer.byteLength(payload))
    const { raw } = reply
    if (raw.destroyed || raw.closed) return share.giveBack()
    const reading: Reading = { raw, share, written: -1, since: performance.now() }
    readings.add(reading)
    const leave = () => {
      readings.delete(reading)
      share.giveBack()
    }
    raw.once('finish', leave).once('close', leave)
  })
}
