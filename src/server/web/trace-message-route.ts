import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { messageId } from '../../base/ids.ts'
import { inSteps } from '../../base/json/steps.ts'
import { notFound } from '../http/http-error.ts'
import type { LongLists } from '../http/long-lists.ts'
import { documentHeaders, pageHeaders } from '../pages/headers.ts'
import { endOfMessage, messageWithoutText, startOfMessage } from '../pages/trace.ts'
import { viewerOf } from '../pages/viewer.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import { placeOf } from '../trace/messages/places.ts'
import { type MessageListRow, oneMessage } from '../trace/messages/queries.ts'
import { type MessageRow, messageText } from '../trace/messages/views.ts'
import { textOfPart } from '../../transcript/message.ts'
import { MOST_WAITING } from '../../transcript/turns.ts'
import { slices } from '../../transcript/slices.ts'
import type { RowMaking, Rows } from './row-making.ts'
import { type RowInput, messagesInput } from './row-steps.ts'
import { rowsOfAnswer } from './rows-of-answer.ts'
import { messagesBetween } from './trace-messages.ts'
import { fragmentHeaders } from './trace-sending.ts'
import { type ShownServices, type ShownTrace, sessionValues, showTrace } from './trace-shown.ts'
import { PathSegment, TraceParams } from './trace-params.ts'

const Params = TraceParams.extend({ messageId: PathSegment })
const Query = z.object({
  fragment: z.string().optional(),
  part: z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .optional(),
})

type Services = ShownServices & { readonly longLists: LongLists; readonly rowMaking: RowMaking }

const textHeaders = {
  ...pageHeaders,
  'content-type': 'text/plain; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/** The text of one part of a message. UTF-8 has no lone surrogates, so each becomes `�`. */
function* textOf(row: MessageRow, part: number): Generator<string, void> {
  const text = yield* inSteps(textOfPart(messageText(row), part), '')
  for (const slice of slices(text ?? '')) yield slice.toWellFormed()
}

/**
 * `GET /@{slug}/{externalId}/-/message/{messageExternalId}`: a message with nothing folded, as a page; with `?fragment` only its row, with
 * `?part=N` only the text of one part.
 */
export const traceMessageRoute = (app: FastifyInstance, services: Services): void => {
  const { reads, longLists, rowMaking } = services

  const listOf = ({ trace, reader, check }: ShownTrace) => ({
    reader,
    check,
    chunkSize: Math.min(Number(trace.bytes), CHUNK_SIZE),
  })

  const sendText = (reply: FastifyReply, shown: ShownTrace, id: string, part: number) =>
    longLists.send<MessageRow>(reply, {
      ...listOf(shown),
      async *chunks() {
        const { id: traceId } = shown.trace
        const row = await oneMessage(reads, { traceId, id: messageId(traceId, id), includeParts: true })
        yield { rows: [row], size: row.parts?.length ?? 0 }
      },
      before: '',
      toText: (row) => textOf(row, part),
      after: () => '',
      headers: () => textHeaders,
    })

  type RowInPage = { readonly id: string; readonly place: number; readonly start: string; readonly end: string }

  /** Sends the row of a message, between the start and the end of a page. */
  const sendRow = (reply: FastifyReply, shown: ShownTrace, { id, place, start, end }: RowInPage) => {
    let made: Rows
    let hasRow = false
    async function* rowIn(input: RowInput) {
      for await (const text of made.make(input)) {
        hasRow ||= text !== ''
        yield text
      }
    }
    return longLists.send<readonly MessageListRow[]>(reply, {
      ...listOf(shown),
      async *chunks() {
        // Results in a message may be shown under the calls of an earlier one.
        const from = Math.max(0, place - MOST_WAITING)
        const { range, chunks } = await messagesBetween(reads, shown.trace, { from, to: place + 1 })
        made = rowsOfAnswer(rowMaking, reply)({ is: 'message', ...sessionValues(shown), id, range })
        for await (const chunk of chunks()) yield { ...chunk, rows: [chunk.rows] }
      },
      before: start,
      toText: (rows) => rowIn(messagesInput(rows, shown.modelName)),
      async *after() {
        yield* rowIn({ is: 'endOfMessages' })
        if (!hasRow && end !== '') yield messageWithoutText.source
        yield end
      },
      headers: () => (start === '' ? fragmentHeaders : { ...documentHeaders, ...fragmentHeaders }),
    })
  }

  const pageOf = (request: FastifyRequest, { slug, head, trace }: ShownTrace, id: string) => ({
    start: startOfMessage({ slug, externalId: trace.external_id, head, viewer: viewerOf(request) }, id).source,
    end: endOfMessage().source,
  })

  app.get<{ Params: z.infer<typeof Params>; Querystring: z.infer<typeof Query> }>(
    '/@:slug/:externalId/-/message/:messageId',
    { config: { auth: 'optional', htmlPage: true }, schema: { params: Params, querystring: Query } },
    async (request, reply) => {
      const { caller, params, query } = request
      const shown = await showTrace(services, params, caller)
      const place = await placeOf(reads, shown.trace, params.messageId)
      if (place === undefined) throw notFound()
      if (query.part !== undefined) return sendText(reply, shown, params.messageId, query.part)
      const around = query.fragment === undefined ? pageOf(request, shown, params.messageId) : { start: '', end: '' }
      return sendRow(reply, shown, { id: params.messageId, place, ...around })
    },
  )
}
