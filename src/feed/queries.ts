import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { jsonObject } from '../http/reply.ts'
import type { After } from '../trace/queries.ts'
import { cursorAfter, summaryColumns } from '../trace/queries.ts'
import type { TraceRow } from '../trace/rows.ts'
import { summaryMembers } from '../trace/views.ts'

export type FeedRow = TraceRow & {
  namespace_id: string
  slug: string
  namespace_name: string
  author_id: string | null
  author_name: string | null
}

const FAR_FUTURE: After = { createdAt: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const publicPage = `
  select id, created_at from feed where visibility = 'public' and (created_at, id) < ($1, $2)
  order by created_at desc, id desc limit $3`

// An OR over both conditions would cost 25 times as much; UNION drops what stands in both.
const sessionPage = `
  select id, created_at from (
    (${publicPage}) union
    (select id, created_at from feed where namespace_id = $4 and (created_at, id) < ($1, $2)
     order by created_at desc, id desc limit $3)
  ) both_pages order by created_at desc, id desc limit $3`

const feedStatement = (page: string) => `
  select ${summaryColumns}, t.namespace_id, n.slug, n.display_name as namespace_name,
    u.id as author_id, u.display_name as author_name,
    (select position from checkpoint) as position
  from (${page}) f join traces t on t.id = f.id join namespaces n on n.id = t.namespace_id
  left join counts c on c.trace_id = f.id left join users u on u.id = t.created_by
  order by f.created_at desc, f.id desc`

export const publicFeedStatement = feedStatement(publicPage)
export const sessionFeedStatement = feedStatement(sessionPage)

/** Public traces of all namespaces, and those of one namespace whatever their visibility (interface: Feed). */
export const feedRows = (
  reads: Reads<ReadTables>,
  options: { namespaceId: string | undefined; limit: number; after: After | undefined },
): Promise<FeedRow[]> => {
  const { createdAt, id } = options.after ?? FAR_FUTURE
  const values = [createdAt, id, options.limit]
  return options.namespaceId === undefined
    ? reads.rows<FeedRow & Row>('feed-public', publicFeedStatement, values)
    : reads.rows<FeedRow & Row>('feed-session', sessionFeedStatement, [...values, options.namespaceId])
}

const entryText = (row: FeedRow): string =>
  jsonObject({
    ...summaryMembers(row),
    namespace: `{"id":"${row.namespace_id}","slug":"${row.slug}","displayName":${row.namespace_name}}`,
    author: row.author_id && jsonObject({ id: `"${row.author_id}"`, displayName: row.author_name }),
  })

/** The data of a feed answer, from one row more than it may show. */
export const feedText = (rows: readonly FeedRow[], limit: number, isAuthenticated: boolean): string => {
  const shown = rows.slice(0, limit)
  const next = rows.length > limit && shown.length > 0 ? `,"nextCursor":"${cursorAfter(shown.at(-1)!)}"` : ''
  return `{"traces":[${shown.map(entryText).join(',')}],"isAuthenticated":${isAuthenticated}${next}}`
}
