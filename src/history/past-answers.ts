import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { invalid } from '../http/http-error.ts'
import { decodeCursor, encodeCursor } from '../http/parameters.ts'
import { okText } from '../http/reply.ts'
import { newMessagePage, pageEnd } from '../trace/messages/page.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import type { AskedMessages, AskedPast, Moment, PastAnswers } from '../trace/services.ts'
import { type PresentTraceRow, type TraceName, traceWithTimeline } from './locate.ts'
import { listOfHistory, openPast } from './open-past.ts'
import type { Keys } from './past-order.ts'
import type { PastTrace } from './past.ts'
import type { HistoryServices } from './services.ts'

const Cursor = z.tuple([
  z.number().nullable(),
  z.number().nullable(),
  z.int32(),
  z.string(),
  z.string().regex(/^\d{1,16}$/),
])

const incarnationKey = ({ id, incarnation }: Pick<PastTrace, 'id' | 'incarnation'>) => `${id}/${incarnation}`

const cursorBehind = (past: PastTrace, { sequence, timestamp, ordinal }: MessageListRow) =>
  encodeCursor(sequence, timestamp, ordinal, incarnationKey(past), String(past.revision))

/** Where a list goes on, and the revision that it is of: time may have gone on since its first page. */
const readCursor = (trace: PresentTraceRow, cursor: string | undefined) => {
  if (cursor === undefined) return undefined
  const keys = decodeCursor(cursor, Cursor)
  if (keys?.[3] !== incarnationKey(trace)) throw invalid('cursor', 'is not a cursor of this list')
  const behind: Keys = [keys[0] ?? Infinity, keys[1] ?? Infinity, keys[2]]
  return { behind, revision: BigInt(keys[4]) }
}

/** What the routes of a trace and its messages answer about the past. */
export const newPastAnswers = (services: HistoryServices): PastAnswers => {
  const { longLists } = services

  const found = async ({ params, query, caller }: AskedPast) => {
    const name: TraceName = { externalId: params.externalId, namespace: query.namespace }
    return traceWithTimeline(services, name, caller)
  }

  const trace = async (request: AskedPast, reply: FastifyReply, moment: Moment) => {
    const present = await found(request)
    const { detail, revision } = await openPast(services, present, moment)
    await listOfHistory(services, present, request.caller).check() // what was read may have been half swept
    return okText(reply, `{"trace":${detail},"revision":${revision}}`)
  }

  const messages = async (request: AskedPast, reply: FastifyReply, moment: Moment, asked: AskedMessages) => {
    const { includeParts, limit, cursor } = asked
    const present = await found(request)
    const from = readCursor(present, cursor)
    const past = await openPast(services, present, from && 'at' in moment ? from : moment)
    const { revision } = past
    if (from && from.revision !== revision) throw invalid('cursor', 'is a cursor of another revision')
    if (limit === 0) return okText(reply, `{"messages":[],"revision":${revision}}`)
    const page = newMessagePage(limit)
    const options = { includeParts, behind: from?.behind, limit: limit === undefined ? undefined : limit + 1 }
    return longLists.send(reply, {
      ...listOfHistory(services, present, request.caller),
      chunkWeight: past.chunkWeight,
      chunks: () => past.messages(options),
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: () => {
        const last = page.goesOnBehind()
        return `${pageEnd(last && cursorBehind(past, last), revision)}}`
      },
    })
  }

  return { trace, messages }
}
