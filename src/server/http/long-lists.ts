import { pipeline } from 'node:stream'
import { constants, createGzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { withPermit } from '../../base/current-client.ts'
import type { Client } from '../../base/permits.ts'
import { newPieces } from '../../base/pieces.ts'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { BrokenOff, type LongList, type Texts } from './long-list.ts'
import { type NodePermits, clientOf } from './node-permits.ts'
import { type Outlet, openOutlet } from './outlet.ts'
import { JSON_TYPE } from './reply.ts'

/** The first piece is shorter, so that it is sent soon: a browser gets the head of a page, which names the files to load. */
const FIRST_LENGTH = 8 * 1024
/** After this time a list is broken off whose client reads a little now and then, and so never stalls. */
const MAX_DURATION_MS = 15 * 60_000
/** A right that was asked for so recently is not asked for again before a chunk: a fast reader takes a chunk in 5 ms, of which the question is a tenth. */
const CHUNK_RIGHT_MS = 20
/** Nor before a piece: below the second within which a list ends after its reader has lost the right to read it. */
const PIECE_RIGHT_MS = 500

/**
 * Sends long lists. No database connection is held between two chunks. The right to read is asked again before each chunk, and before a piece if half a
 * second has passed: a list is broken off if its reader has lost it, and after 15 minutes.
 */
export type LongLists = {
  /** Answers with a list. @throws before anything is sent: the errors of its first chunk; Busy if no memory is free */
  send<Row>(reply: FastifyReply, list: LongList<Row>): Promise<FastifyReply>
  /** Does work for an answer under the same limit of concurrent reads as the chunks of lists. @throws Busy */
  turn<T>(client: Client, work: () => Promise<T>): Promise<T>
}

export type LongListsOptions = {
  /** The clock, in milliseconds since 1970. */
  readonly now: () => number
  readonly permits: Pick<NodePermits, 'answers' | 'reads' | 'turns'>
  readonly pieceRightMs?: number
}

/** Asks for the right to read a list, unless it was asked for within the last milliseconds. @throws BrokenOff; the errors of `check` */
const newRight = ({ reader, check }: Pick<LongList<never>, 'reader' | 'check'>, now: () => number) => {
  const opened = performance.now()
  let asked = -Infinity

  return async (ifOlderMs: number) => {
    const at = performance.now()
    if (at - opened > MAX_DURATION_MS) throw new BrokenOff('its reader is too slow')
    if ((reader.caller?.expiresAt ?? Infinity) <= now()) throw new BrokenOff('the session of its reader has expired')
    if (at - asked < ifOlderMs) return
    asked = at
    await check()
  }
}

export const newLongLists = ({ now, permits, pieceRightMs = PIECE_RIGHT_MS }: LongListsOptions): LongLists => {
  const { answers, reads, turns } = permits

  const turn: LongLists['turn'] = (client, work) => withPermit(reads, client, work)

  /** Reads the first chunk, and returns the pieces of the answer. Each later chunk is read when the client has read the one before it. */
  const open = async <Row>(list: LongList<Row>, { permit, assertOpen }: Outlet, client: Client) => {
    const askForRight = newRight(list, now)
    const chunks = list.chunks()

    const nextChunk = async () => {
      const { value: chunk } = await turn(client, () => chunks.next())
      if (chunk) permit.resize(Math.max(list.chunkSize, chunk.size))
      return chunk
    }

    const chunkToSend = async () => {
      const chunk = await nextChunk()
      if (chunk) await askForRight(CHUNK_RIGHT_MS)
      return chunk
    }

    const goOn = async () => {
      await turns.take(client)
      assertOpen()
    }

    const pieces = newPieces(FIRST_LENGTH)
    const take = async () => {
      await askForRight(pieceRightMs)
      return Buffer.from(pieces.take())
    }

    async function* append(texts: Texts) {
      for await (const text of texts) {
        pieces.add(text)
        if (pieces.isFull()) yield await take()
        await goOn()
      }
    }

    async function* all(chunk: Awaited<ReturnType<typeof nextChunk>>): AsyncGenerator<Buffer, void> {
      const { before } = list
      yield* append([typeof before === 'string' ? before : before()])
      let separator = ''
      for (; chunk; chunk = list.isFull?.() ? undefined : await chunkToSend()) {
        for (const row of chunk.rows) {
          await goOn()
          const text = list.toText(row)
          if (typeof text === 'object') yield* append(text)
          else if (text !== undefined) {
            pieces.add(separator + text)
            separator = ','
          }
          if (pieces.isFull()) yield await take()
        }
        if (!pieces.isEmpty()) yield await take()
      }
      const after = list.after()
      yield* append(typeof after === 'string' ? [after] : after)
      yield await take()
    }

    await askForRight(0)
    const first = await nextChunk()
    assertOpen()
    return all(first)
  }

  const send: LongLists['send'] = async (reply, list) => {
    const { traceId, namespaceId } = list.reader
    const outlet = await openOutlet(answers, reply, list.chunkSize, { traceId, namespaceId })
    const pieces = await open(list, outlet, clientOf(reply.request)).catch(async (error: unknown) => {
      if (!(error instanceof BrokenOff)) throw error
      await list.check() // throws when the reader may not read it any more
      throw new Unavailable(error.message)
    })
    const plain = outlet.stream(pieces)
    // Each piece is compressed when it comes, so that its bytes can be read before the next one.
    const sent = list.isCompressed ? pipeline(plain, createGzip({ flush: constants.Z_SYNC_FLUSH }), () => {}) : plain
    return reply.headers({ 'content-type': JSON_TYPE, ...list.headers?.() }).send(sent)
  }

  return { send, turn }
}
