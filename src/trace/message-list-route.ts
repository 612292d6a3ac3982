import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { nextCursor } from '../http/fields.ts'
import { notFound } from '../http/http-error.ts'
import { Key, Limit, limitOf } from '../http/keys.ts'
import { PAGE_BYTES, fittingTexts } from '../http/page-bytes.ts'
import { answers, jsonArray, okText } from '../http/reply.ts'
import type { Reader } from '../http/long-list.ts'
import { PAGE_WEIGHT, WHOLE_WEIGHT, messagePages } from './message-pages.ts'
import {
  ALL_MESSAGES as ALL,
  type MessageListRow,
  listMessages,
  messageCursor,
  messageValues,
} from './message-queries.ts'
import { assertMayRead } from './policy.ts'
import { memberOf, resolveTrace, traceDetail } from './queries.ts'
import { checkRight } from './right-to-read.ts'
import { Message, messageText } from './views.ts'
import type { TraceServices } from './services.ts'

const Params = z.object({ externalId: Key })
const Query = z.object({
  includeParts: z.string().optional(),
  limit: Limit.meta({
    description: 'At most this many messages; above 1000 counts as 1000. Default: all of them',
  }).optional(),
  cursor: z.string().optional(),
})
const List = z.object({ messages: z.array(Message).meta({ description: 'The messages of this page' }), nextCursor })
/** Up to this many bytes a list is answered at once; a longer one as its reader takes it. */
const QUICK_BYTES = 256 * 1024

/** The messages of a trace: short lists at once, long ones page by page as their reader takes them. */
export const messageListRoute = (
  app: FastifyInstance,
  { reads, streams }: Pick<TraceServices, 'reads' | 'streams'>,
): void => {
  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/messages',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the messages of a trace',
        description:
          'Who may read the trace may read them. Sorted by `order`, then `timestamp`, then arrival; those without one ' +
          'come last. All of them if `limit` does not say otherwise; with `limit` a page holds at most 8 MiB. Errors: ' +
          '`invalid_request` (400) for a `limit` or `cursor` that is none; `unauthorized` (401) without a token for a ' +
          'trace that is not public; `not_found` (404).',
        tags: ['messages'],
        params: Params,
        querystring: Query,
        response: answers(List, 401, 404),
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const hit = await resolveTrace(reads, request.params.externalId, caller)
      if (!hit) throw notFound()
      assertMayRead(hit, memberOf(caller, hit))
      const trace = await traceDetail(reads, hit.id)
      if (!trace) throw notFound()
      assertMayRead(trace, memberOf(caller, hit))
      const reader = { caller, namespaceId: hit.namespaceId, traceId: hit.id, isMember: hit.role !== undefined }
      return list(reply, trace, reader, {
        includeParts: query.includeParts === 'true',
        limit: limitOf(query.limit),
        cursor: query.cursor,
      })
    },
  )

  const list = async (
    reply: FastifyReply,
    { id, incarnation, bytes }: { id: string; incarnation: bigint; bytes: bigint },
    reader: Reader,
    { includeParts, limit, cursor }: { includeParts: boolean; limit: number | undefined; cursor: string | undefined },
  ) => {
    const values = messageValues(id, incarnation, limit === undefined ? ALL : limit + 1, cursor)
    if (limit === 0) return okText(reply, '{"messages":[]}')
    if (Number(bytes) <= QUICK_BYTES) {
      const rows = await listMessages(reads, { includeParts, values })
      return okText(reply, pageText(id, incarnation, rows, limit ?? ALL))
    }
    const page = newPage(id, incarnation, limit)
    return streams.send(reply, {
      reader,
      check: () => checkRight(reads, reader, incarnation),
      pageWeight: Number(bytes) <= WHOLE_WEIGHT ? Number(bytes) : PAGE_WEIGHT,
      pages: () => messagePages(reads, { incarnation, bytes: Number(bytes), includeParts, values }),
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: page.end,
    })
  }
}

/** What of a list one answer shows: all of it, or as much as fits where a limit is given. */
const newPage = (id: string, incarnation: bigint, limit: number | undefined) => {
  let [shown, bytes] = [0, 0]
  let last: MessageListRow | undefined
  let more = false
  return {
    /** Undefined for a row beyond the page. */
    toText: (row: MessageListRow): string | undefined => {
      more ||= shown === limit
      if (more) return undefined
      const text = messageText(row)
      if (limit !== undefined) bytes += Buffer.byteLength(text) + 1
      more = bytes > PAGE_BYTES && shown > 0
      if (more) return undefined
      shown += 1
      last = row
      return text
    },
    isFull: () => more,
    end: () => `]${more ? `,"nextCursor":"${messageCursor(id, incarnation, last!)}"` : ''}}}`,
  }
}

const pageText = (id: string, incarnation: bigint, rows: readonly MessageListRow[], limit: number): string => {
  const texts = rows.map(messageText)
  const count = limit === ALL ? rows.length : fittingTexts(texts, limit)
  const next = rows.length > count ? `,"nextCursor":"${messageCursor(id, incarnation, rows[count - 1]!)}"` : ''
  return `{"messages":${jsonArray(texts.slice(0, count))}${next}}`
}
