import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { fitting, weighedRows } from '../http/page-bytes.ts'
import { jsonArray, jsonObject } from '../http/reply.ts'
import type { FeedServices } from './services.ts'
import { namedRow } from '../trace/named.ts'
import type { After } from '../trace/queries.ts'
import { NEWEST_FIRST, cursorAfter, summaryColumns, summaryTables, summaryWeight } from '../trace/queries.ts'
import type { ListedRow } from '../trace/rows.ts'
import { summaryMembers } from '../trace/views.ts'

export type FeedRow = ListedRow & {
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

const namespacePage = `
  select id, created_at from feed where namespace_id = $4 and (created_at, id) < ($1, $2)
  order by created_at desc, id desc limit $3`

// An OR over both conditions would cost 25 times as much; UNION drops what stands in both.
const sessionPage = `
  select id, created_at from ((${publicPage}) union (${namespacePage})) both_pages
  order by created_at desc, id desc limit $3`

const feedStatement = (page: string) =>
  weighedRows(
    `
  select ${summaryColumns}, ${summaryWeight} + octet_length(n.display_name::text) as weight, t.namespace_id, n.slug, n.display_name as namespace_name,
    u.id as author_id, u.display_name as author_name,
    (select position from reached) as position
  from (${page}) f ${summaryTables}
  cross join lateral (select r.slug, r.display_name from namespaces r where r.id = t.namespace_id limit 1) n
  left join lateral (select r.id, r.display_name from users r where r.id = t.created_by limit 1) u on true`,
    NEWEST_FIRST,
  )

export const publicFeedStatement = feedStatement(publicPage)
export const sessionFeedStatement = feedStatement(sessionPage)
export const namespaceFeedStatement = feedStatement(namespacePage)

/** Whose traces a page shows: everybody's public ones, one namespace's whatever their visibility, or both. */
export type FeedSource = 'public' | { readonly namespaceId: string; readonly withPublic: boolean }

/** The rows of one page of the feed, newest first. */
export const feedRows = (
  reads: Reads<ReadTables>,
  options: { source: FeedSource; limit: number; after: After | undefined },
): Promise<FeedRow[]> => {
  const { source, limit } = options
  const { createdAt, id } = options.after ?? FAR_FUTURE
  const values = [createdAt, id, limit]
  if (source === 'public') return reads.rows<FeedRow & Row>('feed-public', publicFeedStatement, values)
  const { namespaceId, withPublic } = source
  return withPublic
    ? reads.rows<FeedRow & Row>('feed-session', sessionFeedStatement, [...values, namespaceId])
    : reads.rows<FeedRow & Row>('feed-namespace', namespaceFeedStatement, [...values, namespaceId])
}

/** One trace of the feed: where it stands, and what is shown of it as JSON text, empty for nothing. */
export type FeedEntry = {
  readonly created_at: bigint
  readonly id: string
  readonly text: string
  /** Of a page of a feed; what is not shown takes its part of it too. */
  readonly bytes: number
}

const entryText = (row: FeedRow): string =>
  jsonObject({
    ...summaryMembers(row),
    namespace: `{"id":"${row.namespace_id}","slug":"${row.slug}","displayName":${row.namespace_name}}`,
    author: row.author_id && jsonObject({ id: `"${row.author_id}"`, displayName: row.author_name }),
  })

/** What is in quarantine keeps its place, but nothing of it is shown. */
export const toEntry = (row: FeedRow, { reads, models }: Pick<FeedServices, 'reads' | 'models'>): FeedEntry => {
  const { created_at, id, weight } = row
  const isShown = reads.isNotQuarantined(`trace-${id}`, `namespace-${row.namespace_id}`)
  const text = isShown ? entryText(namedRow(models, row)) : ''
  return { created_at, id, text, bytes: Math.max(weight, Buffer.byteLength(text)) }
}

const isNewer = (a: FeedEntry, b: FeedEntry) =>
  a.created_at === b.created_at ? a.id > b.id : a.created_at > b.created_at

/** Two pages as one, newest first, what stands in both once; `preferred` says what such an entry looks like. */
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

/** How many of the entries one answer may hold. */
const countOf = (entries: readonly FeedEntry[], limit: number) =>
  fitting(
    entries.map(({ bytes }) => bytes),
    limit,
  )

const listText = (entries: readonly FeedEntry[], count: number): string => {
  const texts = entries.slice(0, count).map(({ text }) => text)
  return jsonArray(texts.filter((text) => text !== ''))
}

/** The traces alone, as many as fit. */
export const feedList = (entries: readonly FeedEntry[], limit: number): string =>
  listText(entries, countOf(entries, limit))

/** The data of a feed answer, from one entry more than it may show. */
export const feedText = (entries: readonly FeedEntry[], limit: number, isAuthenticated: boolean): string => {
  const count = countOf(entries, limit)
  const next = entries.length > count && count > 0 ? `,"nextCursor":"${cursorAfter(entries[count - 1]!)}"` : ''
  return `{"traces":${listText(entries, count)},"isAuthenticated":${isAuthenticated}${next}}`
}
