import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { nextCursor } from '../../contract/fields.ts'
import { invalid, notFound } from '../../http/http-error.ts'
import { Key, LimitText, Revision, limitOf } from '../../contract/parameters.ts'
import { fittingTexts } from '../../http/page-bytes.ts'
import { answers, okText } from '../../http/reply.ts'
import type { Reader } from '../../http/long-list.ts'
import { type PlaceInList, cursorBehind, readCursor } from './cursor.ts'
import { newMessagePage, pageEnd } from './page.ts'
import { CHUNK_WEIGHT, WHOLE_WEIGHT, messageChunks } from './chunks.ts'
import { ALL_MESSAGES as ALL, type MessageListRow, chosenFor, listMessages, messageValues } from './queries.ts'
import { InNamespace, momentOf, pastQuery } from '../moment.ts'
import { assertMayRead } from '../policy.ts'
import { type StoredDetail, userRoleOf, resolveTrace, traceDetail } from '../queries.ts'
import { checkRight } from '../right-to-read.ts'
import { Message, messageText } from './views.ts'
import type { AskedMessages, TraceServices } from '../services.ts'

const Params = z.object({ externalId: Key })
const Query = z.object({
  includeParts: z.string().optional(),
  limit: LimitText.meta({
    description: 'At most this many messages; above 1000 counts as 1000. Default: all of them',
  }).optional(),
  cursor: z.string().optional(),
  changedSince: Revision.meta({
    description:
      'Only messages that were added or changed after this revision of the trace. When the answer has a lower `revision`, ' +
      'the log is another one than before: read the list anew',
    examples: ['12'],
  }).optional(),
  ...pastQuery,
  namespace: InNamespace,
})
const List = z.object({
  messages: z.array(Message).meta({ description: 'The messages of this page' }),
  nextCursor,
  revision: z.int().meta({
    description: 'The revision of the trace that the first page shows, told by all pages: a later `changedSince`',
  }),
})
/** Up to this many characters a list is answered at once; a longer one as its reader takes it. */
const QUICK_WEIGHT = 256 * 1024

/** The messages of a trace: short lists at once, long ones chunk by chunk as their reader takes them. */
export const messageListRoute = (
  app: FastifyInstance,
  { reads, longLists, past }: Pick<TraceServices, 'reads' | 'longLists' | 'past'>,
): void => {
  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/messages',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the messages of a trace',
        description:
          'Who may read the trace may read them. Sorted by `order`, then `timestamp`, then arrival; those without one ' +
          'come last. All of them if `limit` does not say otherwise; with `limit` a page holds at most 8 MiB. With `revision` or ' +
          '`at` as they were then, for members only. Errors: `invalid_request` (400) for a `limit`, `cursor`, `changedSince`, ' +
          'revision or time that is none; `unauthorized` (401) without a token for a trace that is not public, and for the ' +
          'past; `forbidden` (403) for the past of a public trace when you are no member; `not_found` (404).',
        tags: ['messages'],
        params: Params,
        querystring: Query,
        response: answers(List, 401, 403, 404),
      },
    },
    async (request, reply) => {
      const { caller, query } = request
      const asked = {
        includeParts: query.includeParts === 'true',
        limit: limitOf(query.limit),
        cursor: query.cursor,
        changedSince: query.changedSince === undefined ? undefined : BigInt(query.changedSince),
      }
      const moment = momentOf(query)
      if (moment && asked.changedSince !== undefined)
        throw invalid('changedSince', 'is of the present: it cannot be given with a revision or a time')
      if (moment) return past.messages(request, reply, moment, asked)
      const hit = await resolveTrace(reads, request.params.externalId, caller, query.namespace)
      if (!hit) throw notFound()
      assertMayRead(hit, userRoleOf(caller, hit))
      const trace = await traceDetail(reads, hit.id)
      if (!trace) throw notFound()
      assertMayRead(trace, userRoleOf(caller, hit))
      const reader = { caller, namespaceId: hit.namespaceId, traceId: hit.id, isMember: hit.role !== undefined }
      return list(reply, trace, reader, asked)
    },
  )

  const list = async (reply: FastifyReply, trace: StoredDetail, reader: Reader, asked: Asked) => {
    const { id, incarnation } = trace
    const { includeParts, limit, cursor, changedSince } = asked
    const from = readCursor(trace, 'present', cursor)
    const values = messageValues(id, incarnation, limit === undefined ? ALL : limit + 1, from?.behind, changedSince)
    if (limit === 0) return okText(reply, `{"messages":[],"revision":${from?.revision ?? trace.revision}}`)
    const weight = Number(trace.bytes)
    const wanted = { incarnation, weight, includeParts, values, chosen: await chosenFor(reads, trace, changedSince) }
    if (weight <= QUICK_WEIGHT)
      return okText(reply, pageText(trace, from, await listMessages(reads, wanted), limit ?? ALL))
    const page = newMessagePage(limit)
    let revision = from?.revision
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader, incarnation),
      chunkWeight: weight <= WHOLE_WEIGHT ? weight : CHUNK_WEIGHT,
      chunks: async function* () {
        for await (const chunk of messageChunks(reads, wanted)) {
          revision ??= chunk.revision // known from the first chunk on
          yield chunk
        }
      },
      before: '{"ok":true,"data":{"messages":[',
      toText: page.toText,
      isFull: page.isFull,
      after: () => `${endOf(trace, page.goesOnBehind(), revision ?? trace.revision)}}`,
    })
  }
}

type Asked = AskedMessages & { readonly changedSince: bigint | undefined }

/** The end of a page; without `last` the list ends with it. */
const endOf = (trace: StoredDetail, last: MessageListRow | undefined, revision: bigint): string =>
  pageEnd(last && cursorBehind(trace, 'present', last, revision), revision)

const pageText = (
  trace: StoredDetail,
  from: PlaceInList | undefined,
  { rows, revision }: Awaited<ReturnType<typeof listMessages>>,
  limit: number,
): string => {
  const texts = rows.map(messageText)
  const count = limit === ALL ? rows.length : fittingTexts(texts, limit)
  const last = rows.length > count ? rows[count - 1] : undefined
  return `{"messages":[${texts.slice(0, count).join(',')}${endOf(trace, last, from?.revision ?? revision)}`
}
