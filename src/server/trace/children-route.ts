import type { FastifyInstance } from 'fastify'
import { listedBy } from '../../tables/main.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { pageRows } from '../http/list-page.ts'
import { MAX_LIMIT } from '../../contract/parameters.ts'
import { traces } from '../../contract/traces.ts'
import { route } from '../http/route.ts'
import { keyHash } from '../../base/ids.ts'
import { ofNamespace } from './lists.ts'
import { missingTrace } from './moved.ts'
import { assertMayRead } from './policy.ts'
import {
  FAR_FUTURE,
  NEWEST_FIRST,
  afterOf,
  cursorAfter,
  resolveTrace,
  summaryColumns,
  summaryTables,
  summarySize,
  userRoleOf,
} from './queries.ts'
import { pageTexts } from './routes.ts'
import type { ListedRow } from './rows.ts'
import type { TraceServices } from './services.ts'

/** SQL for the traces of the namespace $1 whose parent has the key $2, after the creation time $3 and the id $4. */
export const childrenStatement = (publicOnly: boolean): string => {
  const [hash, condition] = publicOnly ? [listedBy.publicParent, `and visibility = 'public'`] : [listedBy.parent, '']
  return pageRows(
    `
  select ${summaryColumns}, ${summarySize} as size from (
    select id from traces where ${ofNamespace(hash)} and parent_key = $2 and (created_at, id) < ($3, $4) ${condition}
    order by ${NEWEST_FIRST} limit $5
  ) f ${summaryTables}`,
    NEWEST_FIRST,
  )
}

/** `GET /v1/traces/{externalId}/children`: the traces whose parent is this trace. */
export const childrenRoute = (app: FastifyInstance, service: TraceServices): void => {
  const { reads } = service
  route(app, traces, 'GET /v1/traces/{externalId}/children', async ({ caller, params: { externalId }, query }) => {
    const { limit = MAX_LIMIT, cursor, namespace } = query
    const { createdAt, id } = afterOf(cursor) ?? FAR_FUTURE
    const hit = await resolveTrace(reads, externalId, caller, namespace)
    if (!hit) throw await missingTrace(reads, { externalId, namespace }, caller)
    assertMayRead(hit, userRoleOf(caller, hit))
    if (limit === 0) return { traces: [] }
    const publicOnly = hit.role === undefined
    const values = [hit.namespaceId, keyHash(externalId), createdAt, id, limit + 1]
    const name = `traces-children${publicOnly ? '-public' : ''}`
    const rows = await reads.rows<ListedRow & Row>(name, childrenStatement(publicOnly), values)
    return pageTexts(service, rows, { limit, cursorOf: cursorAfter })
  })
}
