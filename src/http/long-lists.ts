import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { newRecentChanges } from '../engine/recent-changes.ts'
import { Unavailable } from '../engine/rejected.ts'
import { actAs, withPermit } from '../base/current-client.ts'
import { Busy, type Client } from '../base/permits.ts'
import { HttpError } from './http-error.ts'
import { assertOpen, openBytes } from './list-bytes.ts'
import { BrokenOff, type EndsReading, type LongList } from './long-list.ts'
import { type OpenList, newOpenList } from './open-list.ts'
import { newReadingRights } from './reading-rights.ts'
import { JSON_TYPE } from './reply.ts'
import { STALL_MS } from './large-answers.ts'
import type { NodePermits } from './node-permits.ts'
import { acquireUntilOver, whenOver } from './when-over.ts'

/** How many bytes are made ahead of the client: enough for a socket, little compared with a chunk. */
const AHEAD_BYTES = 64 * 1024
/** After this time a list is broken off whose client reads a little now and then, and so never stalls. */
const MAX_DURATION_MS = 15 * 60_000
/** Far below the second within which a list ends after its reader has lost the right to read it. */
const CHECK_INTERVAL_MS = 100
/** More than happen while a chunk is read. A list that is further behind is broken off. */
const REMEMBERED_LOSSES = 5_000

/**
 * Sends long lists. No database connection is held between two chunks. A list is broken off if its reader reads nothing for 30
 * seconds, or too slowly while others wait for memory; after 15 minutes; and within a second after the reader has lost the right to
 * read it, on any node. The client then sees a broken transfer, never a well-formed end.
 */
export type LongLists = {
  /** Answers with a list. @throws before anything is sent: the errors of its first chunk; Busy if no memory is free */
  send<Row>(reply: FastifyReply, list: LongList<Row>): Promise<FastifyReply>
  /** Does work for an answer under the same limit of concurrent reads as the chunks of lists. @throws Busy */
  turn<T>(client: Client, work: () => Promise<T>): Promise<T>
  /** Breaks off the lists whose readers lose the right to read by an event. Called for each event before its write is answered. */
  observe(event: { readonly position: bigint; readonly ends: EndsReading | undefined }): void
  /** Breaks off all lists. Called when it is not known who has lost a right. */
  clear(): void
  /** Breaks off all lists for a log in another epoch, whose positions start again. */
  restart(): void
}

export type LongListsOptions = {
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  /** False while this node does not follow the log; then the rights of readers are queried repeatedly. */
  readonly isCurrent: () => boolean
  readonly permits: Pick<NodePermits, 'answers' | 'reads' | 'turns'>
}

/** Why a list has to be broken off because of the time; undefined if it need not be. */
const timeoutOf = ({ reader, opened }: OpenList, now: number): string | undefined => {
  if ((reader.caller?.expiresAt ?? Infinity) <= now) return 'the session of its reader has expired'
  return performance.now() - opened > MAX_DURATION_MS ? 'its reader is too slow' : undefined
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof HttpError) return 'its reader may not read it any more'
  return error instanceof BrokenOff || error instanceof Unavailable || error instanceof Busy ? error.message : undefined
}

export const newLongLists = ({ now, isCurrent, permits }: LongListsOptions): LongLists => {
  const { answers, reads, turns } = permits
  const openLists = new Set<OpenList>()
  const losses = newRecentChanges<EndsReading>(REMEMBERED_LOSSES)
  const rights = newReadingRights(isCurrent, losses)
  let checking: NodeJS.Timeout | undefined

  const fail = (openList: OpenList, error: unknown) => openList.breakOff(reasonOf(error) ?? 'the service has a fault')

  const checkAll = () => {
    for (const openList of [...openLists]) {
      const reason = timeoutOf(openList, now())
      if (reason) openList.breakOff(reason)
      else if (openList.readable)
        actAs(openList.client, () => rights.ensure(openList)).catch((error: unknown) => fail(openList, error))
    }
  }

  const leave = (openList: OpenList) => {
    openLists.delete(openList)
    if (openLists.size > 0) return
    clearInterval(checking)
    checking = undefined
  }

  const enter = <Row>(reply: FastifyReply, list: LongList<Row>) => {
    const openList = newOpenList(list, reply, leave)
    openLists.add(openList)
    checking ??= setInterval(checkAll, CHECK_INTERVAL_MS).unref()
    whenOver(reply.raw, openList.leave)
    return openList
  }

  const open = async <Row>(openList: OpenList, list: LongList<Row>, reply: FastifyReply) => {
    const onYield = () => openList.breakOff('its reader reads too slowly, and others wait')
    openList.permit = await acquireUntilOver(answers, reply, list.chunkSize, onYield)
    assertOpen(openList)
    openList.permit.rest() // until the first piece is made
    await rights.confirm(openList)
    return openBytes(openList, list, { rights, losses, reads, client: openList.client, turns })
  }

  /** Breaks off the answer on an error, because its status has been sent already. */
  async function* guarded(reply: FastifyReply, openList: OpenList, bytes: AsyncIterable<Buffer>) {
    try {
      yield* bytes
    } catch (error) {
      if (!reasonOf(error)) reply.log.error({ err: error }, 'a list cannot be made')
      fail(openList, error)
      if (reply.raw.headersSent && !reply.raw.closed) await once(reply.raw, 'close').catch(() => {})
      throw new Unavailable('the list was broken off', false, error)
    }
  }

  const send = async <Row>(reply: FastifyReply, list: LongList<Row>) => {
    const openList = enter(reply, list)
    reply.raw.setTimeout(STALL_MS, () => openList.breakOff('its reader has stopped reading'))
    try {
      const bytes = guarded(reply, openList, await open(openList, list, reply))
      openList.readable = Readable.from(bytes, { objectMode: false, highWaterMark: AHEAD_BYTES })
    } catch (error) {
      openList.leave()
      if (!(error instanceof BrokenOff)) throw error
      await list.check() // throws when the reader may not read it any more
      throw new Unavailable(error.message)
    }
    return reply.headers({ 'content-type': JSON_TYPE, ...list.headers?.() }).send(openList.readable)
  }

  const turn: LongLists['turn'] = (client, work) => withPermit(reads, client, work)

  const observe: LongLists['observe'] = ({ position, ends }) => {
    if (!ends) return
    losses.note(position, ends)
    for (const openList of [...openLists]) if (ends(openList)) openList.breakOff('its reader may not read it any more')
  }

  const clear = () => {
    for (const openList of [...openLists]) openList.breakOff('it is not known any more who may read it')
  }

  const restart = () => {
    losses.restart()
    clear()
  }

  return { send, turn, observe, clear, restart }
}
