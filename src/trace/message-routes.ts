import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { wholeOf } from '../http/body-bytes.ts'
import { BATCH_LIMIT, type BodyReader, readBodies } from '../http/body.ts'
import { contextOf, requireCaller } from '../http/caller.ts'
import { notFound } from '../http/http-error.ts'
import { count, id as idOf, nextCursor } from '../http/fields.ts'
import { Key, Limit, limitOf } from '../http/keys.ts'
import { PAGE_BYTES, fittingTexts } from '../http/page-bytes.ts'
import { answers, jsonArray, okText } from '../http/reply.ts'
import { messageId } from '../ids.ts'
import type { Service } from '../service.ts'
import type { Claim } from '../namespace/quota.ts'
import { BatchBody, MessageBody, readBatch, readMessage } from './body.ts'
import { type UpsertedMessage, needOf, upsertMessages } from './decide-messages.ts'
import type { Trace } from './decide.ts'
import type { Reader } from './lost-rights.ts'
import { growthOf } from './growth.ts'
import { type Located, assertMayWriteTo, writeLocated } from './locate.ts'
import type { MessageUpsert } from './message.ts'
import { PAGE_WEIGHT, WHOLE_WEIGHT, messagePages } from './message-pages.ts'
import { type MessageListRow, listMessages, messageCursor, messageValues } from './message-queries.ts'
import { assertMayRead } from './policy.ts'
import { memberOf, resolveTrace, traceDetail } from './queries.ts'
import { messageMeanings } from './meanings.ts'
import { checkRight } from './right-to-read.ts'
import { Message, messageText, upsertedText } from './views.ts'

const OneParams = z.object({ externalId: Key, messageExternalId: Key })
const Params = z.object({ externalId: Key })
const Query = z.object({
  includeParts: z.string().optional(),
  limit: Limit.meta({
    description: 'At most this many messages; above 1000 counts as 1000. Default: all of them',
  }).optional(),
  cursor: z.string().optional(),
})
const List = z.object({ messages: z.array(Message).meta({ description: 'The messages of this page' }), nextCursor })
const Batch = z.object({
  messages: z
    .array(
      z.object({
        id: idOf('the message'),
        externalId: z.string().meta(messageMeanings.externalId),
        result: z.enum(['created', 'updated', 'unchanged']).meta({ description: 'What became of the message' }),
      }),
    )
    .meta({ description: 'One entry for each message of the request, in its order' }),
  created: count('How many messages were new'),
  updated: count('How many messages were changed'),
  unchanged: count('How many messages were there as they were sent'),
  messageCount: count('How many messages the trace has now'),
})
const tags = ['messages']

/** Up to this many bytes a list is answered at once; a longer one as its reader takes it. */
const QUICK_BYTES = 256 * 1024
const ALL = 2 ** 31 - 1

type Written = { id: string; messages: UpsertedMessage[]; messageCount: number }

const batchText = ({ id, messages, messageCount }: Written): string => {
  const count = { created: 0, updated: 0, unchanged: 0 }
  const items = messages.map(({ externalId, result }) => {
    count[result] += 1
    return `{"id":"${messageId(id, externalId)}","externalId":${JSON.stringify(externalId)},"result":"${result}"}`
  })
  const { created, updated, unchanged } = count
  return `{"messages":${jsonArray(items)},"created":${created},"updated":${updated},"unchanged":${unchanged},"messageCount":${messageCount}}`
}

const tasks = new URL('./body-tasks.ts', import.meta.url)

/** The messages of a trace: upsert one, upsert up to 200, list. */
export const messageRoutes = (app: FastifyInstance, service: Service): void => {
  const { reads, traces, streams, quotas, bodyThreads } = service

  const reader =
    (name: string, read: (bytes: Uint8Array) => unknown): BodyReader =>
    (bytes) =>
      bodyThreads.isLarge(bytes) ? bodyThreads.read({ module: tasks, name }, bytes) : read(wholeOf(bytes))

  const write = async (
    request: FastifyRequest,
    externalId: string,
    upserts: readonly MessageUpsert[],
  ): Promise<Written> =>
    writeLocated(service, requireCaller(request), externalId, (located) =>
      quotas.bytes.within(located.namespaceId, (claim) => writeTo(request, located, upserts, claim)),
    )

  /** Before the body is read; a path that is not valid is refused later. */
  const toWrite = async (request: FastifyRequest) => {
    const { success, data } = Params.safeParse(request.params)
    if (success) await assertMayWriteTo(service, requireCaller(request), data.externalId)
  }

  const writeTo = (
    request: FastifyRequest,
    { id, writer }: Located,
    upserts: readonly MessageUpsert[],
    claim: Claim,
  ) => {
    const upsert = upsertMessages(writer, upserts)
    let messages: UpsertedMessage[] = []
    const decide = (state: Trace, _now: number, at: number) => {
      const decided = upsert(state, at)
      messages = decided.messages
      claim(growthOf(messages))
      return decided.events
    }
    const answer = (state: Trace) => ({
      id,
      messages,
      messageCount: state.is === 'present' ? state.counts.messageCount : 0,
    })
    return service.write(traces, id, { decide, answer, need: needOf(upserts) }, contextOf(request))
  }

  app.put<{ Params: { externalId: string; messageExternalId: string }; Body: Omit<MessageUpsert, 'externalId'> }>(
    '/v1/traces/:externalId/messages/:messageExternalId',
    {
      config: { auth: 'required', readBody: reader('message', readMessage) },
      validatorCompiler: readBodies,
      onRequest: toWrite,
      schema: {
        summary: 'Create or update a message',
        description:
          'As the creator of the trace or as an admin of its namespace. On a message that is there only the given ' +
          'fields change; given `parts` replace all that it had. A repetition changes nothing. Errors: ' +
          '`invalid_request` (400), also beyond 2,000 parts; `forbidden` (403) for members who are neither creator nor ' +
          'admin; `quota_exceeded` (403) where the operator limits bytes; `not_found` (404) for an unknown trace and ' +
          'for who is no member; `payload_too_large` (413) beyond 1 MiB.',
        tags,
        params: OneParams,
        body: MessageBody,
        response: answers(z.object({ message: Message }), 400, 401, 403, 404, 413),
      },
    },
    async (request, reply) => {
      const { externalId, messageExternalId } = request.params
      const written = await write(request, externalId, [{ externalId: messageExternalId, ...request.body }])
      return okText(
        reply,
        `{"message":${upsertedText(messageId(written.id, messageExternalId), written.messages[0]!)}}`,
      )
    },
  )

  app.post<{ Params: { externalId: string }; Body: readonly MessageUpsert[] }>(
    '/v1/traces/:externalId/messages/batch',
    {
      bodyLimit: BATCH_LIMIT,
      validatorCompiler: readBodies,
      onRequest: toWrite,
      config: { auth: 'required', readBody: reader('batch', readBatch) },
      schema: {
        summary: 'Create or update up to 200 messages, all or none',
        description:
          'Each as by PUT, in the order of the request; all are stored or none. A repetition changes nothing. Errors: ' +
          '`invalid_request` (400), also beyond 2,000 parts in a message, 20,000 in the batch, or 200,000 JSON values; ' +
          '`forbidden` (403) for members who are neither creator nor admin; `quota_exceeded` (403) where the operator ' +
          'limits bytes; `not_found` (404) for an unknown trace and for who is no member; `payload_too_large` (413) ' +
          'beyond 16 MiB; `rate_limited` (429) and `unavailable` (503) while too many bytes are on their way.',
        tags,
        params: Params,
        body: BatchBody,
        response: answers(Batch, 400, 401, 403, 404, 413),
      },
    },
    async (request, reply) => {
      return okText(reply, batchText(await write(request, request.params.externalId, request.body)))
    },
  )

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
        tags,
        params: Params,
        querystring: Query,
        response: answers(List, 400, 401, 404),
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
