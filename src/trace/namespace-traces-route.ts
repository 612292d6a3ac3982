import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { notFound } from '../http/errors.ts'
import { DEFAULT_LIMIT, Key, Limit, limitOf } from '../http/keys.ts'
import { answers, ok, okText } from '../http/reply.ts'
import { namespaceId } from '../ids.ts'
import type { Service } from '../service.ts'
import { afterOf, listTraces, summaryColumns } from './queries.ts'
import { pageText } from './routes.ts'
import type { TraceRow } from './rows.ts'
import { TraceSummary, summaryText } from './views.ts'

const Params = z.object({ slug: Key })
const Query = z.object({ limit: Limit.optional(), cursor: z.string().optional() })
const List = z.object({ traces: z.array(TraceSummary), nextCursor: z.string().optional() })

const roleStatement = `
  select n.id, m.role from namespaces n left join members m on m.namespace_id = n.id and m.user_id = $2 where n.id = $1`

const allStatement = `
  select ${summaryColumns} from feed f join traces t on t.id = f.id left join counts c on c.trace_id = f.id
  where f.namespace_id = $1 order by f.created_at desc, f.id desc`

/** The traces of a namespace: all of them for a member, public ones for anybody (interface: Namespaces, rule 4). */
export const namespaceTracesRoute = (app: FastifyInstance, { reads, streams }: Service): void => {
  app.get<{ Params: { slug: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/namespaces/:slug/traces',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the traces of a namespace, newest first',
        tags: ['namespaces'],
        params: Params,
        querystring: Query,
        response: answers(List, 400, 404),
      },
    },
    async ({ params, query, caller }, reply) => {
      const after = afterOf(query.cursor)
      const given = limitOf(query.limit)
      const values = [namespaceId(params.slug.trim().toLowerCase()), caller?.userId ?? null]
      const [found] = await reads.rows<{ id: string; role: string | null }>('namespace-role', roleStatement, values)
      if (!found) throw notFound()
      const isMember = found.role !== null
      if (given === 0) return ok(reply, { traces: [] })
      if (isMember && given === undefined && !after) {
        const readable = await streams.stream<TraceRow>(
          { text: allStatement, values: [found.id] },
          { before: '{"ok":true,"data":{"traces":[', toText: summaryText, after: () => ']}}' },
        )
        return reply.type('application/json; charset=utf-8').send(readable)
      }
      const limit = given ?? DEFAULT_LIMIT
      const rows = await listTraces(reads, { namespaceId: found.id, publicOnly: !isMember, limit: limit + 1, after })
      return okText(reply, pageText(rows, limit))
    },
  )
}
