import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Reader, Sending } from './long-list.ts'
import type { Client, Permit } from '../base/permits.ts'
import { clientOf } from './node-permits.ts'

/** A long list that is being sent. Times are milliseconds of a monotonic clock. */
export type OpenList = Sending & {
  readonly client: Client
  readonly reader: Reader
  /** The checkpoint of a snapshot in which the reader has the right to read. @throws HttpError unauthorized, not_found; Unavailable */
  readonly check: () => Promise<bigint>
  readonly opened: number
  /** When the last check of the reader's rights began, and whether this node has followed the log since. */
  checked: { readonly at: number; readonly isWatched: boolean }
  /** The running check of the rights. */
  checking: Promise<void> | undefined
  /** The memory that it may use; undefined while it waits for free memory. */
  permit: Permit | undefined
  /** The stream of its pieces; undefined until the first chunk is read. */
  readable: Readable | undefined
  /** `left` if the answer has ended or its reader has left, else why it was broken off; undefined while it is sent. */
  readonly over: () => 'left' | { readonly reason: string } | undefined
  /** Records that a piece with this number of bytes is sent now, and the traces that it shows. */
  sends(bytes: number, traceIds: readonly string[]): void
  /** Resets the connection, so that the client sees that the answer is not complete. Pieces that wait are not sent. */
  breakOff(reason: string): void
  /** Called after the end of the answer, or when its reader has left. */
  leave(): void
}

/**
 * Resets the connection. After a normal end an HTTP/1.0 client would take the answer for complete, and the kernel would still
 * send what it has buffered.
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
    // The newest two pieces may be on their way between two buffers, and counted in neither.
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

export const newOpenList = (
  { reader, check }: Pick<OpenList, 'reader' | 'check'>,
  reply: FastifyReply,
  ended: (openList: OpenList) => void,
): OpenList => {
  let over: ReturnType<OpenList['over']>
  const opened = performance.now()
  const linked = new Set(reader.linked?.map(({ id }) => id))
  const outgoing = newOutgoing(() => (openList.readable?.readableLength ?? 0) + reply.raw.writableLength)

  const end = (how: NonNullable<typeof over>) => {
    over = how
    openList.permit?.release()
    ended(openList)
  }

  const breakOff = (reason: string) => {
    if (over) return
    end({ reason })
    const { traceId, namespaceId } = reader
    reply.log.info({ traceId, namespaceId }, `a list was broken off: ${reason}`)
    if (reply.raw.headersSent) reset(reply)
  }

  const openList: OpenList = {
    client: clientOf(reply.request),
    reader,
    check,
    opened,
    checked: { at: -Infinity, isWatched: false },
    checking: undefined,
    permit: undefined,
    readable: undefined,
    over: () => over,
    shows: (traceId) => linked.has(traceId) || outgoing.shows(traceId),
    sends: outgoing.add,
    breakOff,
    leave: () => {
      if (!over) end('left')
    },
  }
  return openList
}
