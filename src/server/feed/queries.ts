import type { ReadTables } from '../../tables/main.ts'
import type { Feed, FeedTrace } from '../../contract/feed.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { fitting, pageRows } from '../http/list-page.ts'
import { type JsonText, type JsonTexts, jsonText, jsonTexts } from '../http/json-text.ts'
import { arrayTexts, jsonArray } from '../http/reply.ts'
import type { KnownModels, ModelRegistry } from '../models/registry.ts'
import { type ShownRow, shownRow } from '../trace/model-names.ts'
import type { After } from '../trace/queries.ts'
import { NEWEST_FIRST, cursorAfter, summaryColumns, summaryTables, summarySize } from '../trace/queries.ts'
import type { ListedRow } from '../trace/rows.ts'
import { childCount, isRoot, type ListReader } from '../trace/sub-agents.ts'
import { listedMembers } from '../trace/views.ts'

/** Where entries come from: the rows of traces, and the names of models. */
export type FeedSources = { readonly reads: Reads<ReadTables>; readonly models: ModelRegistry }

export type FeedRow = ListedRow & {
  namespace_id: string
  slug: string
  namespace_name: string
  author_id: string | null
  author_name: string | null
  /** The checkpoint of the snapshot that the row was read from. */
  position: bigint
}

/** Sorts before all traces: where a list starts. */
const NEWEST: After = { createdAt: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const pageOf = (condition: string): string => `
  select id, created_at from feed where ${condition} and (created_at, id) < ($1, $2)
  order by created_at desc, id desc limit $3`

const publicPage = `visibility = 'public'`
const namespacePage = 'namespace_id = $4'

// An OR of both conditions would cost 25 times as much. UNION drops the traces that are in both.
const sessionPage = (more = ''): string => `
  select id, created_at from ((${pageOf(publicPage + more)}) union (${pageOf(namespacePage + more)})) both_pages
  order by created_at desc, id desc limit $3`

/** SQL for the columns of a `FeedRow`. */
export const feedColumns = `${summaryColumns}, ${summarySize} + octet_length(n.display_name::text) as size, t.namespace_id,
    n.slug, n.display_name as namespace_name, u.id as author_id, u.display_name as author_name,
    (select position from reached) as position`

/** SQL that joins the rows of the feed to the ids in `f`. */
export const feedTables = `${summaryTables}
  cross join lateral (select r.slug, r.display_name from namespaces r where r.id = t.namespace_id limit 1) n
  left join lateral (select r.id, r.display_name from users r where r.id = t.created_by limit 1) u on true`

const feedStatement = (page: string, columns = feedColumns) =>
  pageRows(`select ${columns} from (${page}) f ${feedTables}`, NEWEST_FIRST)

export const publicFeedStatement = feedStatement(pageOf(publicPage))
export const sessionFeedStatement = feedStatement(sessionPage())
export const namespaceFeedStatement = feedStatement(pageOf(namespacePage))

const rootsStatement = (reader: ListReader, page: (more: string) => string) =>
  feedStatement(page(` and ${isRoot('feed', reader)}`), `${feedColumns}, ${childCount(reader)}`)

/** The same without sub-agents whose parent the reader may read: anybody, a member of the namespace, or `$5`. */
export const rootsStatements = {
  public: rootsStatement('anybody', (more) => pageOf(publicPage + more)),
  namespace: rootsStatement('member', (more) => pageOf(namespacePage + more)),
  session: rootsStatement('$5', sessionPage),
} as const

/** The traces that a page shows: all public ones, all of a namespace, or both. */
export type FeedSource = 'public' | { readonly namespaceId: string; readonly withPublic: boolean }

/** The rows of one page of the feed, newest first. */
export const feedRows = (
  reads: Reads<ReadTables>,
  options: { source: FeedSource; limit: number; after: After | undefined },
): Promise<FeedRow[]> => {
  const { source, limit } = options
  const { createdAt, id } = options.after ?? NEWEST
  const values = [createdAt, id, limit]
  if (source === 'public') return reads.rows<FeedRow & Row>('feed-public', publicFeedStatement, values)
  const { namespaceId, withPublic } = source
  return withPublic
    ? reads.rows<FeedRow & Row>('feed-session', sessionFeedStatement, [...values, namespaceId])
    : reads.rows<FeedRow & Row>('feed-namespace', namespaceFeedStatement, [...values, namespaceId])
}

/** The traces that a page without sub-agents shows: the public ones, those of a namespace for its members, or those and all public ones for a user. */
export type RootSource = 'public' | { readonly namespaceId: string; readonly userId?: string }

/** The rows of one page without sub-agents, newest first. */
export const rootRows = (
  reads: Reads<ReadTables>,
  options: { source: RootSource; limit: number; after: After | undefined },
): Promise<FeedRow[]> => {
  const { source, limit } = options
  const { createdAt, id } = options.after ?? NEWEST
  const values = [createdAt, id, limit]
  if (source === 'public') return reads.rows<FeedRow & Row>('feed-public-roots', rootsStatements.public, values)
  const { namespaceId, userId } = source
  return userId === undefined
    ? reads.rows<FeedRow & Row>('feed-namespace-roots', rootsStatements.namespace, [...values, namespaceId])
    : reads.rows<FeedRow & Row>('feed-session-roots', rootsStatements.session, [...values, namespaceId, userId])
}

/** A trace of the feed: its sort keys and its JSON, which is empty if the trace must not be shown. */
export type FeedEntry = {
  readonly created_at: bigint
  readonly id: string
  readonly text: string
  /** How many bytes it counts for in the limit of a page, also if it is not shown. */
  readonly bytes: number
}

const namespaceText = ({ namespace_id, slug, namespace_name }: FeedRow) =>
  jsonText<FeedTrace['namespace']>({ id: `"${namespace_id}"`, slug: `"${slug}"`, displayName: namespace_name })

const authorText = ({ author_id, author_name }: FeedRow) =>
  author_id && jsonText<NonNullable<FeedTrace['author']>>({ id: `"${author_id}"`, displayName: author_name })

const entryText = (row: ShownRow<FeedRow>): JsonText<FeedTrace> =>
  jsonText({ ...listedMembers(row), namespace: namespaceText(row), author: authorText(row) })

const toEntry = (row: FeedRow, reads: FeedSources['reads'], models: KnownModels): FeedEntry => {
  const { created_at, id, size } = row
  const isShown = reads.isNotQuarantined(`trace-${id}`, `namespace-${row.namespace_id}`)
  const text = isShown ? entryText(shownRow(models, row)) : ''
  return { created_at, id, text, bytes: Math.max(size, Buffer.byteLength(text)) }
}

/** The entries of rows. A trace in quarantine keeps its place in the list, but is not shown. */
export const toEntries = async (rows: readonly FeedRow[], { reads, models }: FeedSources): Promise<FeedEntry[]> => {
  const known = await models.known()
  return rows.map((row) => toEntry(row, reads, known))
}

const isNewer = (a: FeedEntry, b: FeedEntry) =>
  a.created_at === b.created_at ? a.id > b.id : a.created_at > b.created_at

/** Merges two pages, newest first. An entry that is in both is taken from `preferred`. */
export const mergeEntries = (
  preferred: readonly FeedEntry[],
  others: readonly FeedEntry[],
  limit: number,
): FeedEntry[] => {
  const merged: FeedEntry[] = []
  let [i, k] = [0, 0]
  while (merged.length < limit && (i < preferred.length || k < others.length)) {
    const [a, b] = [preferred[i], others[k]]
    if (a && b && a.id === b.id) k += 1
    else if (!b || (a && isNewer(a, b))) {
      merged.push(a!)
      i += 1
    } else {
      merged.push(b)
      k += 1
    }
  }
  return merged
}

/** How many of the entries fit into one answer. */
const fittingCount = (entries: readonly FeedEntry[], limit: number) =>
  fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )

const shownTexts = (entries: readonly FeedEntry[], count: number): string[] =>
  entries
    .slice(0, count)
    .map(({ text }) => text)
    .filter((text) => text !== '')

/** The JSON array of the traces that fit into one answer. */
export const feedList = (entries: readonly FeedEntry[], limit: number): JsonText<FeedTrace[]> =>
  jsonArray(shownTexts(entries, fittingCount(entries, limit))) as JsonText<FeedTrace[]>

/** The JSON texts of the entries that fit into a page, and its cursor. `entries` has one entry more than `limit` if there is another page. */
export const shownEntries = (
  entries: readonly FeedEntry[],
  limit: number,
): { readonly texts: readonly string[]; readonly nextCursor: string | undefined } => {
  const count = fittingCount(entries, limit)
  const nextCursor = entries.length > count && count > 0 ? cursorAfter(entries[count - 1]!) : undefined
  return { texts: shownTexts(entries, count), nextCursor }
}

/** The JSON data of an answer, in pieces; `entries` as in `shownEntries`. */
export const feedTexts = (entries: readonly FeedEntry[], limit: number, isAuthenticated: boolean): JsonTexts<Feed> => {
  const { texts, nextCursor } = shownEntries(entries, limit)
  return jsonTexts({
    traces: arrayTexts(texts),
    isAuthenticated: String(isAuthenticated),
    nextCursor: nextCursor === undefined ? undefined : `"${nextCursor}"`,
  })
}
