import type { FastifyInstance, FastifyReply } from 'fastify'
import { z } from 'zod'
import { notFound } from '../http/http-error.ts'
import { nextCursor } from '../http/fields.ts'
import { DEFAULT_LIMIT, Key, Limit, limitOf } from '../http/parameters.ts'
import { answers, ok, okTexts } from '../http/reply.ts'
import { namespaceId } from '../ids.ts'
import type { Reader } from '../http/long-list.ts'
import { rowWithModelName } from './model-names.ts'
import { CHUNK_WEIGHT, namespaceChunk, namespaceChunks } from './namespace-chunks.ts'
import { afterOf, listTraces } from './queries.ts'
import { checkRight } from './right-to-read.ts'
import { pageTexts } from './routes.ts'
import { TraceSummary, summaryText } from './views.ts'
import type { TraceServices } from './services.ts'

const Params = z.object({ slug: Key })
const Query = z.object({
  limit: Limit.meta({
    description: 'At most this many traces; above 1000 counts as 1000. Default: 50, and all of them for a member',
  }).optional(),
  cursor: z.string().optional(),
})
const List = z.object({ traces: z.array(TraceSummary).meta({ description: 'The traces of this page' }), nextCursor })

const roleStatement = `
  select n.id, m.role from namespaces n left join members m on m.namespace_id = n.id and m.user_id = $2 where n.id = $1`

/** The traces of a namespace: all of them for a member, public ones for anybody. */
export const namespaceTracesRoute = (app: FastifyInstance, service: TraceServices): void => {
  const { reads, models, longLists } = service
  app.get<{ Params: { slug: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/namespaces/:slug/traces',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the traces of a namespace, newest first',
        description:
          'All traces for a member, on one page if `limit` and `cursor` do not say otherwise; only public ones for ' +
          'anybody else, 50 a page by default. Errors: `invalid_request` (400) for a `limit` or `cursor` that is none; ' +
          '`not_found` (404) for an unknown namespace.',
        tags: ['namespaces'],
        params: Params,
        querystring: Query,
        response: answers(List, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const after = afterOf(query.cursor)
      const given = limitOf(query.limit)
      const values = [namespaceId(params.slug.trim().toLowerCase()), caller?.userId ?? null]
      const [found] = await reads.rows<{ id: string; role: string | null }>('namespace-role', roleStatement, values)
      if (!found) throw notFound()
      reads.assertNotQuarantined(`namespace-${found.id}`)
      const isMember = found.role !== null
      if (given === 0) return ok(reply, { traces: [] })
      if (isMember && given === undefined && !after) return listAll(reply, { caller, namespaceId: found.id })
      const limit = given ?? DEFAULT_LIMIT
      const rows = await listTraces(reads, { namespaceId: found.id, publicOnly: !isMember, limit: limit + 1, after })
      return okTexts(reply, pageTexts(service, rows, limit))
    },
  )

  const listAll = async (reply: FastifyReply, { caller, namespaceId }: Pick<Reader, 'caller' | 'namespaceId'>) => {
    const first = await namespaceChunk(reads, namespaceId)
    if (!first.next) return okTexts(reply, pageTexts(service, first.rows, first.rows.length))
    const reader = { caller, namespaceId, traceId: undefined, isMember: true }
    return longLists.send(reply, {
      reader,
      check: () => checkRight(reads, reader),
      chunkWeight: CHUNK_WEIGHT,
      chunks: () => namespaceChunks(reads, namespaceId),
      before: '{"ok":true,"data":{"traces":[',
      toText: (row) =>
        reads.isNotQuarantined(`trace-${row.id}`) ? summaryText(rowWithModelName(models, row)) : undefined,
      traceIdOf: ({ id }) => id,
      after: () => ']}}',
    })
  }
}
