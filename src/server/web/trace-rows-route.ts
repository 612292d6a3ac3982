import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { aRevision } from '../../contract/parameters.ts'
import { invalid } from '../http/http-error.ts'
import type { Chunk } from '../http/long-list.ts'
import type { LongLists } from '../http/long-lists.ts'
import { PAGE_ROWS } from '../pages/trace.ts'
import { changedMessages } from '../trace/messages/changed.ts'
import { CHUNK_SIZE } from '../trace/messages/chunks.ts'
import { placesOf } from '../trace/messages/places.ts'
import type { MessageListRow } from '../trace/messages/queries.ts'
import { countsHtml } from '../../transcript/html/head.ts'
import { type View, views } from '../../transcript/html/links.ts'
import type { RowMaking, Rows } from './row-making.ts'
import { messagesInput } from './row-steps.ts'
import { type OpenRows, rowsOfAnswer } from './rows-of-answer.ts'
import { changeOf, earliestChanges } from './trace-changed-rows.ts'
import { type Around, messagesAround, messagesBetween } from './trace-messages.ts'
import { fragmentHeaders } from './trace-sending.ts'
import { type ShownServices, type ShownTrace, sessionValues, showTrace } from './trace-shown.ts'
import { TraceParams } from './trace-params.ts'

const Query = z.object({
  from: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform((text) => Math.min(Number(text), PAGE_ROWS))
    .optional(),
  changedSince: aRevision('The revision that the page shows').optional(),
  view: z.enum(views).optional(),
})

type Services = ShownServices & { readonly longLists: LongLists; readonly rowMaking: RowMaking }

/** The messages that a task reads, and the rows that it makes of them. */
type Piece = { readonly chunks: Around['chunks']; readonly made: Rows }

/** An answer, whose rows are made piece by piece, and the revision of the trace that the page shows with it. */
type Answer = {
  /** HTML that comes before the rows. */
  readonly before: string
  readonly revision: bigint
  readonly hasMore: boolean
  readonly pieces: AsyncIterable<Piece>
}

type Row = { readonly piece: Piece; readonly rows: readonly MessageListRow[] }

/** The most characters of changes that are read at once, unless a single batch has more. */
const CHANGES_SIZE = 512 * 1024

/**
 * `GET /@{slug}/{externalId}/-/rows`: the rows of some messages, as the page of the session has them. `from` and `limit` name the messages by
 * their places. `changedSince` asks for the messages that were added or changed since a revision, and for those whose calls they answer; before
 * their rows comes the head's line of counts. The header `x-revision` is the revision of the trace that the rows show; `x-more: true` says that
 * later changes exist.
 */
export const traceRowsRoute = (app: FastifyInstance, services: Services): void => {
  const { reads, longLists, rowMaking } = services

  const rowsBetween = async (
    shown: ShownTrace,
    { from, to, view }: { readonly from: number; readonly to: number; readonly view: View },
    open: OpenRows,
  ): Promise<Answer> => {
    const { range, revision, chunks } = await messagesBetween(reads, shown.trace, { from, to })
    async function* pieces(): AsyncGenerator<Piece, void> {
      yield { chunks, made: open({ is: 'rows', ...sessionValues(shown), view, range }) }
    }
    return { before: '', revision, hasMore: false, pieces: pieces() }
  }

  const rowsSince = async (shown: ShownTrace, since: bigint, view: View, open: OpenRows): Promise<Answer> => {
    const { trace } = shown
    const wanted = { since, includeParts: false, size: CHANGES_SIZE, most: CHANGES_SIZE }
    const { rows, ...found } = await changedMessages(reads, trace, wanted)
    const placeOf = await placesOf(
      reads,
      trace,
      rows.map(({ ordinal }) => ordinal),
    )
    const all = rows.flatMap((row) => {
      const place = placeOf.get(row.ordinal)
      return place === undefined ? [] : [{ ...row, place }]
    })
    const some = earliestChanges(all)
    async function* pieces(): AsyncGenerator<Piece, void> {
      const places = some.map(({ place }) => place).sort((a, b) => a - b)
      const changes = some.map(changeOf)
      for await (const { range, chunks } of messagesAround(reads, trace, places))
        yield { chunks, made: open({ is: 'changedRows', ...sessionValues(shown), view, range, changes }) }
    }
    const hasAll = some.length === all.length
    const revision = hasAll ? found.revision : some.at(-1)!.revision
    return {
      before: countsHtml(shown.head).source,
      // The trace, with its counts, was read before the rows, and may be older; then the page asks for both again.
      revision: revision < trace.revision ? revision : trace.revision,
      hasMore: found.hasMore || !hasAll,
      pieces: pieces(),
    }
  }

  const send = (
    reply: FastifyReply,
    { trace, reader, check, modelName }: ShownTrace,
    read: (open: OpenRows) => Promise<Answer>,
  ) => {
    let answer: Answer
    let last: Piece | undefined
    async function* chunks(): AsyncGenerator<Chunk<Row>, void> {
      answer = await read(rowsOfAnswer(rowMaking, reply))
      for await (const piece of answer.pieces)
        for await (const chunk of piece.chunks()) yield { ...chunk, rows: [{ piece, rows: chunk.rows }] }
    }
    return longLists.send<Row>(reply, {
      reader,
      check,
      chunkSize: Math.min(Number(trace.bytes), CHUNK_SIZE),
      chunks,
      before: () => answer.before,
      async *toText({ piece, rows }) {
        if (last && last !== piece) yield* last.made.make({ is: 'endOfMessages' })
        last = piece
        yield* piece.made.make(messagesInput(rows, modelName))
      },
      async *after() {
        if (last) yield* last.made.make({ is: 'endOfMessages' })
      },
      headers: () => ({
        ...fragmentHeaders,
        'x-revision': String(answer.revision),
        ...(answer.hasMore ? { 'x-more': 'true' } : {}),
      }),
    })
  }

  app.get<{ Params: TraceParams; Querystring: z.infer<typeof Query> }>(
    '/@:slug/:externalId/-/rows',
    { config: { auth: 'optional' }, schema: { params: TraceParams, querystring: Query } },
    async ({ caller, params, query }, reply) => {
      const { from, limit = PAGE_ROWS, changedSince, view = 'full' } = query
      if ((from === undefined) === (changedSince === undefined))
        throw invalid('from', 'send either `from` or `changedSince`, one of both')
      const shown = await showTrace(services, params, caller)
      return send(reply, shown, (open) =>
        changedSince === undefined
          ? rowsBetween(shown, { from: from!, to: from! + limit, view }, open)
          : rowsSince(shown, changedSince, view, open),
      )
    },
  )
}
