import type { FeedTrace } from '../../contract/feed.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { fitting, pageRows } from '../http/list-page.ts'
import { authoredIds, cursorAfterTrace, orderValues, orderedIds, listPlaceOf, shownOrder } from '../trace/lists.ts'
import { type FeedRow, type FeedSources, feedColumns, feedTables, toEntries } from './queries.ts'

/** A page of a list, and the cursor of the next one if there is one. */
export type SessionList = { readonly traces: readonly FeedTrace[]; readonly nextCursor: string | undefined }

const startedStatement = (ids: string, right = ''): string =>
  pageRows(`select ${feedColumns} from (${ids} limit $4) f ${feedTables} ${right}`, shownOrder('startedAt'))

/** Checks the right in the snapshot of the list: no trace is shown that was created after the reader had lost the right. */
const whileMember = 'where exists (select from members m where m.namespace_id = $1 and m.user_id = $5)'

export const sessionStatements = {
  public: startedStatement(orderedIds('startedAt', { publicOnly: true })),
  all: startedStatement(orderedIds('startedAt'), whileMember),
  authored: startedStatement(authoredIds, whileMember),
} as const

/**
 * Which traces of a namespace are listed: the public ones; or, for a member, all of them or those that the member has created. For a user who is
 * not a member the list is empty.
 */
export type ListedTraces = { readonly kind: 'public' } | { readonly kind: 'all' | 'authored'; readonly member: string }

/**
 * The traces of a namespace as the feed shows them, the latest session first.
 * @throws 400 for a cursor that is not of this list
 */
export const sessionsOfNamespace = async (
  services: FeedSources,
  options: {
    readonly namespaceId: string
    readonly which: ListedTraces
    readonly limit: number
    readonly cursor: string | undefined
  },
): Promise<SessionList> => {
  const { namespaceId, which, limit, cursor } = options
  const place = listPlaceOf({ sort: 'startedAt', cursor })
  const rows = await services.reads.rows<FeedRow & Row>(`sessions-${which.kind}`, sessionStatements[which.kind], [
    ...orderValues(namespaceId, place),
    limit + 1,
    ...(which.kind === 'public' ? [] : [which.member]),
  ])
  const entries = await toEntries(rows, services)
  const count = fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )
  return {
    traces: entries.slice(0, count).flatMap(({ text }) => (text === '' ? [] : [JSON.parse(text) as FeedTrace])),
    nextCursor: rows.length > count && count > 0 ? cursorAfterTrace('startedAt', rows[count - 1]!) : undefined,
  }
}

const byIdStatement = `select ${feedColumns} from unnest($3::uuid[]) f (id) ${feedTables}
  where t.namespace_id = $1 and exists (select from members m where m.namespace_id = $1 and m.user_id = $2)`

/** Those of these traces that are in a namespace, by their ids, as the feed shows them; none for a user who is not a member of it. */
export const sessionsById = async (
  services: FeedSources,
  {
    namespaceId,
    member,
    ids,
  }: { readonly namespaceId: string; readonly member: string; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, FeedTrace>> => {
  if (ids.length === 0) return new Map()
  const values = [namespaceId, member, uuids(ids)]
  const rows = await services.reads.rows<FeedRow & Row>('sessions-by-id', byIdStatement, values)
  const entries = await toEntries(rows, services)
  return new Map(entries.flatMap(({ id, text }) => (text === '' ? [] : [[id, JSON.parse(text) as FeedTrace] as const])))
}
