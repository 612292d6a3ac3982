import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listedBy } from '../../projections/traces.ts'
import type { Row } from '../engine/reads.ts'
import { nextCursor } from '../contract/fields.ts'
import { notFound } from '../http/http-error.ts'
import { weighedRows } from '../http/page-bytes.ts'
import { Key, LimitText, MAX_LIMIT, limitOf } from '../contract/parameters.ts'
import { answers, ok, okTexts } from '../http/reply.ts'
import { keyHash } from '../ids.ts'
import { ofNamespace } from './lists.ts'
import { InNamespace } from './moment.ts'
import { assertMayRead } from './policy.ts'
import {
  FAR_FUTURE,
  NEWEST_FIRST,
  afterOf,
  cursorAfter,
  resolveTrace,
  summaryColumns,
  summaryTables,
  summaryWeight,
  userRoleOf,
} from './queries.ts'
import { pageTexts } from './routes.ts'
import type { ListedRow } from './rows.ts'
import type { TraceServices } from './services.ts'
import { TraceSummary } from './views.ts'

const Params = z.object({ externalId: Key })
const Query = z.object({
  limit: LimitText.meta({
    description: `At most this many traces; above ${MAX_LIMIT} counts as ${MAX_LIMIT}, the default`,
  }).optional(),
  cursor: z.string().optional(),
  namespace: InNamespace,
})
const List = z.object({ traces: z.array(TraceSummary).meta({ description: 'The traces of this page' }), nextCursor })

/** The traces of the namespace $1 whose parent has the key $2, behind a time $3 and an id $4; all of them for members. */
export const childrenStatement = (publicOnly: boolean): string => {
  const [hash, condition] = publicOnly ? [listedBy.publicParent, `and visibility = 'public'`] : [listedBy.parent, '']
  return weighedRows(
    `
  select ${summaryColumns}, ${summaryWeight} as weight from (
    select id from traces where ${ofNamespace(hash)} and parent_key = $2 and (created_at, id) < ($3, $4) ${condition}
    order by ${NEWEST_FIRST} limit $5
  ) f ${summaryTables}`,
    NEWEST_FIRST,
  )
}

/** The traces that say of a trace that it has started them. */
export const childrenRoute = (app: FastifyInstance, service: TraceServices): void => {
  const { reads } = service
  app.get<{ Params: { externalId: string }; Querystring: z.infer<typeof Query> }>(
    '/v1/traces/:externalId/children',
    {
      config: { auth: 'optional' },
      schema: {
        summary: 'List the traces that a trace has started, newest first',
        description:
          'Those of its namespace that name it as `parentExternalId`, and that the caller may read: all of them for a member, ' +
          'else the public ones; at most 8 MiB a page. Errors: `invalid_request` (400) for a `limit` or `cursor` that is ' +
          'none; `unauthorized` (401) without a token for a trace that is not public; `not_found` (404) as for the trace.',
        tags: ['traces'],
        params: Params,
        querystring: Query,
        response: answers(List, 401, 404),
      },
    },
    async ({ caller, params: { externalId }, query }, reply) => {
      const { createdAt, id } = afterOf(query.cursor) ?? FAR_FUTURE
      const limit = limitOf(query.limit) ?? MAX_LIMIT
      const hit = await resolveTrace(reads, externalId, caller, query.namespace)
      if (!hit) throw notFound()
      assertMayRead(hit, userRoleOf(caller, hit))
      if (limit === 0) return ok(reply, { traces: [] })
      const publicOnly = hit.role === undefined
      const values = [hit.namespaceId, keyHash(externalId), createdAt, id, limit + 1]
      const name = `traces-children${publicOnly ? '-public' : ''}`
      const rows = await reads.rows<ListedRow & Row>(name, childrenStatement(publicOnly), values)
      return okTexts(reply, pageTexts(service, rows, { limit, cursorOf: cursorAfter }))
    },
  )
}
