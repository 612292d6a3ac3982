import type { FeedTrace } from '../../contract/feed.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { listedBy } from '../../tables/main.ts'
import { keyHash, traceId } from '../../base/ids.ts'
import { fitting, pageRows } from '../http/list-page.ts'
import {
  authoredIds,
  cursorAfterTrace,
  listPlaceOf,
  ofNamespace,
  orderValues,
  orderedIds,
  shownOrder,
} from '../trace/lists.ts'
import { FAR_FUTURE, NEWEST_FIRST, afterOf, cursorAfter } from '../trace/queries.ts'
import { childCount, isSubAgent, type ListReader } from '../trace/sub-agents.ts'
import { type FeedEntry, type FeedRow, type FeedSources, feedColumns, feedTables, toEntries } from './queries.ts'

/** A page of a list, and the cursor of the next one if there is one. */
export type SessionList = { readonly traces: readonly FeedTrace[]; readonly nextCursor: string | undefined }

const startedStatement = (ids: string, columns: string, right = ''): string =>
  pageRows(`select ${columns} from (${ids} limit $4) f ${feedTables} ${right}`, shownOrder('startedAt'))

const withCount = (reader: ListReader) => `${feedColumns}, ${childCount(reader)}`

/** Checks the right in the snapshot of the list: no trace is shown that was created after the reader had lost the right. */
export const whileMember = (user: `$${number}`): string =>
  `where exists (select from members m where m.namespace_id = $1 and m.user_id = ${user})`

export const sessionStatements = {
  public: startedStatement(orderedIds('startedAt', { publicOnly: true, rootsOnly: true }), withCount('anybody')),
  all: startedStatement(orderedIds('startedAt', { rootsOnly: true }), withCount('member'), whileMember('$5')),
  authored: startedStatement(authoredIds, withCount('member'), whileMember('$5')),
} as const

/**
 * Which traces of a namespace are listed: the public ones; or, for a member, all of them or those that the member has created. For a user who is
 * not a member the list is empty. Sub-agents whose parent the reader may read are in none of these lists.
 */
export type ListedTraces = { readonly kind: 'public' } | { readonly kind: 'all' | 'authored'; readonly member: string }

/** The entries that fit into a page; `entries` has one more than `limit` if there is another page. */
const shownList = (
  entries: readonly FeedEntry[],
  limit: number,
  cursorAt: (last: FeedEntry, index: number) => string,
): SessionList => {
  const count = fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )
  return {
    traces: entries.slice(0, count).flatMap(({ text }) => (text === '' ? [] : [JSON.parse(text) as FeedTrace])),
    nextCursor: entries.length > count && count > 0 ? cursorAt(entries[count - 1]!, count - 1) : undefined,
  }
}

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
  return shownList(entries, limit, (_, index) => cursorAfterTrace('startedAt', rows[index]!))
}

/** SQL for the sub-agents in the namespace $1 of the trace with the key $2 and the id $6, after the creation time $3 and the id $4; `$7` is the member. */
const subAgentsStatement = (isMember: boolean): string => {
  const hash = isMember ? listedBy.parent : listedBy.publicParent
  const right = isMember
    ? 'where exists (select from members m where m.namespace_id = $1 and m.user_id = $7)'
    : `where t.visibility = 'public'`
  return pageRows(
    `
  select ${withCount(isMember ? 'member' : 'anybody')} from (
    select id from traces where ${ofNamespace(hash)} and parent_key = $2 and (created_at, id) < ($3, $4) and id <> $6
      and ${isSubAgent('traces')} ${isMember ? '' : `and visibility = 'public'`}
    order by ${NEWEST_FIRST} limit $5
  ) f ${feedTables} ${right}`,
    NEWEST_FIRST,
  )
}

export const subAgentsStatements = { member: subAgentsStatement(true), public: subAgentsStatement(false) } as const

/**
 * The sub-agents of a trace, the newest first; for a member of its namespace all of them, else the public ones.
 * @throws 400 for a cursor that is not of this list
 */
export const subAgentsOf = async (
  services: FeedSources,
  {
    namespace_id,
    external_id,
    id,
  }: { readonly namespace_id: string; readonly external_id: string; readonly id: string },
  {
    member,
    limit,
    cursor,
  }: { readonly member: string | undefined; readonly limit: number; readonly cursor: string | undefined },
): Promise<SessionList> => {
  const after = afterOf(cursor) ?? FAR_FUTURE
  const which = member === undefined ? 'public' : 'member'
  const rows = await services.reads.rows<FeedRow & Row>(`sub-agents-${which}`, subAgentsStatements[which], [
    ...[namespace_id, keyHash(external_id), after.createdAt, after.id, limit + 1, id],
    ...(member === undefined ? [] : [member]),
  ])
  return shownList(await toEntries(rows, services), limit, (last) => cursorAfter(last))
}

const parentsStatement = `select ${feedColumns} from unnest($1::uuid[]) f (id) ${feedTables}
  where t.visibility = 'public' or exists (select from members m where m.namespace_id = t.namespace_id and m.user_id = $2)`

const parentIdOf = ({ id, namespace, parentExternalId, parentKind = 'call' }: FeedTrace): string | undefined => {
  if (parentExternalId === undefined || parentKind !== 'call') return undefined
  const parent = traceId(namespace.id, parentExternalId)
  return parent === id ? undefined : parent
}

/** The sessions that have started those of these traces that are sub-agents, by the ids of the sub-agents, as far as the user may read them. */
export const parentsOf = async (
  services: FeedSources,
  traces: readonly FeedTrace[],
  userId: string | undefined,
): Promise<ReadonlyMap<string, FeedTrace>> => {
  const ids = new Map(traces.map((trace) => [trace.id, parentIdOf(trace)]))
  const wanted = [...new Set([...ids.values()].filter((id) => id !== undefined))]
  if (wanted.length === 0) return new Map()
  const rows = await services.reads.rows<FeedRow & Row>('parents', parentsStatement, [uuids(wanted), userId ?? null])
  const found = byId(await toEntries(rows, services))
  return new Map(
    [...ids].flatMap(([id, parent]) => {
      const trace = parent === undefined ? undefined : found.get(parent)
      return trace === undefined ? [] : [[id, trace] as const]
    }),
  )
}

const byId = (entries: readonly FeedEntry[]): ReadonlyMap<string, FeedTrace> =>
  new Map(entries.flatMap(({ id, text }) => (text === '' ? [] : [[id, JSON.parse(text) as FeedTrace] as const])))

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
  return byId(await toEntries(rows, services))
}
