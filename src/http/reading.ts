import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Reader, Sending } from './long-list.ts'
import type { Share } from './room.ts'

/** A long list that is being sent. Times are milliseconds that only move forward. */
export type Reading = Sending & {
  readonly reader: Reader
  /** The checkpoint of a snapshot in which the reader has the right to read. @throws 401, 404, Unavailable */
  readonly check: () => Promise<bigint>
  readonly opened: number
  /** When the reader took something last; infinite while it waits for us. */
  since: number
  /** When the last look at the reader's rights began, and whether this node has seen all events from there on. */
  checked: { readonly at: number; readonly isWatched: boolean }
  /** A look at them that is under way. */
  checking: Promise<void> | undefined
  /** What it may hold in memory; undefined as long as it waits for room. */
  share: Share | undefined
  /** What its pieces are pushed to. */
  readable: Readable | undefined
  /** `left` when the answer is through or its reader gone, else why it was broken off; undefined while it goes on. */
  readonly over: () => 'left' | { readonly reason: string } | undefined
  /** Notes a piece that goes out now, of so many bytes, and the traces that it shows. */
  sends(bytes: number, traceIds: readonly string[]): void
  /** Ends it so that the client sees that the answer is not whole, with nothing more sent of what waits here. */
  breakOff(reason: string): void
  leave(): void
}

/**
 * A polite end of the connection would be taken for the end of the answer where no chunks are used (HTTP/1.0), and the
 * kernel would still send what it holds.
 */
const reset = ({ raw }: FastifyReply) => {
  const { socket } = raw
  if (socket?.remoteAddress && !socket.destroyed) socket.resetAndDestroy()
  else raw.destroy()
}

type Outgoing = { readonly traceIds: readonly string[]; readonly end: number }

/** Pieces of an answer that have not all been handed to the kernel. */
const newOutgoing = (unsent: () => number) => {
  let pieces: Outgoing[] = []
  let produced = 0
  const add = (bytes: number, traceIds: readonly string[]) => {
    const gone = produced - unsent()
    // The newest may be on their way between two buffers.
    pieces = pieces.filter(({ end }, i) => end > gone || i >= pieces.length - 2)
    produced += bytes
    pieces.push({ traceIds, end: produced })
  }
  const shows = (traceId: string) => {
    const gone = produced - unsent()
    return pieces.some(({ traceIds, end }, i) => (end > gone || i >= pieces.length - 2) && traceIds.includes(traceId))
  }
  return { add, shows }
}

export const newReading = (
  { reader, check }: Pick<Reading, 'reader' | 'check'>,
  reply: FastifyReply,
  ended: (reading: Reading) => void,
): Reading => {
  let over: ReturnType<Reading['over']>
  const opened = performance.now()
  const outgoing = newOutgoing(() => (reading.readable?.readableLength ?? 0) + reply.raw.writableLength)

  const end = (how: NonNullable<typeof over>) => {
    over = how
    reading.share?.giveBack()
    ended(reading)
  }

  const breakOff = (reason: string) => {
    if (over) return
    end({ reason })
    const { traceId, namespaceId } = reader
    reply.log.info({ traceId, namespaceId }, `a list was broken off: ${reason}`)
    if (reply.raw.headersSent) reset(reply)
  }

  const reading: Reading = {
    reader,
    check,
    opened,
    since: Infinity,
    checked: { at: -Infinity, isWatched: false },
    checking: undefined,
    share: undefined,
    readable: undefined,
    over: () => over,
    shows: outgoing.shows,
    sends: outgoing.add,
    breakOff,
    leave: () => {
      if (!over) end('left')
    },
  }
  return reading
}
