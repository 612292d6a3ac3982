import type { FastifyReply } from 'fastify'
import type { ShownTrace } from '../../contract/traces.ts'
import { invalid } from '../http/http-error.ts'
import { jsonText } from '../http/json-text.ts'
import { cursorAfterMessage, readCursor } from '../trace/messages/cursor.ts'
import { listText, newMessagePage, pageEnd } from '../trace/messages/page.ts'
import type { Moment } from '../trace/moment.ts'
import type { MessagesRequest, PastRequest, PastAnswers } from '../trace/services.ts'
import type { TraceName } from '../trace/locate.ts'
import { traceWithTimeline } from './locate.ts'
import { listOfHistory, openPast } from './open-past.ts'
import type { HistoryServices } from './services.ts'

/** The answers about the past for the routes of a trace and its messages. */
export const newPastAnswers = (services: HistoryServices): PastAnswers => {
  const { longLists } = services

  const presentTrace = async ({ params, query, caller }: PastRequest) => {
    const name: TraceName = { externalId: params.externalId, namespace: query.namespace }
    return traceWithTimeline(services, name, caller)
  }

  const trace = async (request: PastRequest, moment: Moment) => {
    const present = await presentTrace(request)
    const past = await openPast(services, present, moment)
    const detail = await past.detail()
    await listOfHistory(services, present, request.caller).check() // the rows of a trace that is deleted meanwhile are incomplete
    return jsonText<ShownTrace>({ trace: detail, revision: String(past.revision) })
  }

  const messages = async (request: PastRequest, reply: FastifyReply, moment: Moment, asked: MessagesRequest) => {
    const { includeParts, limit, cursor } = asked
    const present = await presentTrace(request)
    // A time may stand for a newer revision now than it did for the first page: the cursor has the revision of the first page.
    const from = readCursor(present, 'past', cursor)
    const past = await openPast(services, present, from && 'at' in moment ? from : moment)
    const { revision } = past
    if (from && from.revision !== revision)
      throw invalid('cursor', 'is of another revision: use it with the query of the previous page')
    if (limit === 0) return listText([], undefined, revision)
    const page = newMessagePage(limit)
    const options = { includeParts, after: from?.after, limit: limit === undefined ? undefined : limit + 1 }
    return longLists.send(reply, {
      ...listOfHistory(services, present, request.caller),
      chunkSize: past.chunkSize,
      chunks: () => past.messages(options),
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: () => {
        const last = page.continuesAfter()
        return `${pageEnd(last && cursorAfterMessage(past, 'past', last, revision), revision)}}`
      },
    })
  }

  return { trace, messages }
}
