import { PUBLIC_ROOTS, PUBLIC_TRACES, rootsIn, tracesIn } from '../effects.ts'
import { type TopicCache, newTopicCache } from '../../eventstore/engine/topic-cache.ts'
import { LARGE_BYTES } from '../http/large-answers.ts'
import { PAGE_BYTES } from '../http/list-page.ts'
import {
  type FeedEntry,
  type FeedRow,
  type FeedSource,
  type FeedSources,
  feedRows,
  feedTexts,
  rootRows,
  toEntries,
} from './queries.ts'

/** The first page of a feed. */
export type FeedPage = {
  readonly entries: readonly FeedEntry[]
  /** An event that changes one of these topics makes the page stale. */
  readonly topics: ReadonlySet<string>
  /** The whole answer to a request without a session; of the public feed only, and only if it is small. */
  readonly body?: Buffer
}

type FeedCache = TopicCache<FeedPage>

/** What the routes of the feed need. */
export type FeedServices = FeedSources & { readonly feedCache: FeedCache }

/** In characters: enough for two pages of the largest size. */
const MAX_SIZE = 3 * PAGE_BYTES
/** About how much memory an entry takes besides its text, in characters; its topics included. */
const ENTRY_SIZE = 400
/** How many events are remembered, to know whether a page is stale by the time it has been read. */
const REMEMBERED_CHANGES = 1_000

/** About how much memory a page takes, in characters. */
const pageSize = ({ entries, body }: FeedPage): number =>
  entries.reduce((sum, { text }) => sum + ENTRY_SIZE + text.length, ENTRY_SIZE + (body?.length ?? 0))

/** A cache of first pages. */
export const newFeedCache = (isCurrent: () => boolean): FeedCache =>
  newTopicCache({ sizeOf: pageSize, maxSize: MAX_SIZE, isCurrent, remembered: REMEMBERED_CHANGES })

/** The topics of a page: those of the list, and all traces, namespaces and authors on the page. */
const topicsOf = (lists: readonly string[], rows: readonly FeedRow[]): Set<string> => {
  const topics = new Set(lists)
  for (const row of rows) {
    topics.add(row.id).add(row.namespace_id)
    if (row.author_id) topics.add(row.author_id)
  }
  return topics
}

/** The answer to a request without a session, unless it is large: then it is sent piece by piece from the entries. */
const wholeAnswer = (entries: readonly FeedEntry[], limit: number): { body?: Buffer } =>
  entries.reduce((sum, { bytes }) => sum + bytes, 0) < LARGE_BYTES
    ? { body: Buffer.from(`{"ok":true,"data":${feedTexts(entries, limit, false).join('')}}`) }
    : {}

const keyOf = (list: string, limit: number) => `${limit} ${list}`

/** First pages of feeds, from the cache if they are there. They have one entry more than `limit` if there is another page. */
export const firstPages = (services: FeedServices) => {
  const { reads, feedCache } = services

  const pageOf = (source: FeedSource, list: string, limit: number): Promise<FeedPage> | FeedPage => {
    const key = keyOf(list, limit)
    const read = async () => {
      const rows = await feedRows(reads, { source, limit: limit + 1, after: undefined })
      const entries = await toEntries(rows, services)
      const topics = topicsOf([list], rows)
      const page = { entries, topics, ...(source === 'public' ? wholeAnswer(entries, limit) : {}) }
      return { value: page, topics, position: rows[0]?.position ?? -1n }
    }
    return feedCache.get(key) ?? feedCache.load(key, read)
  }

  const publicRoots = (limit: number): Promise<FeedPage> | FeedPage => {
    const key = keyOf(PUBLIC_ROOTS, limit)
    const read = async () => {
      const rows = await rootRows(reads, { source: 'public', limit: limit + 1, after: undefined })
      const topics = topicsOf([PUBLIC_TRACES, PUBLIC_ROOTS], rows)
      const page = { entries: await toEntries(rows, services), topics }
      return { value: page, topics, position: rows[0]?.position ?? -1n }
    }
    return feedCache.get(key) ?? feedCache.load(key, read)
  }

  /** Not cached: which traces stand below others in a namespace changes without an event that names the namespace. */
  const namespaceRoots = async (namespaceId: string, limit: number): Promise<FeedPage> => {
    const rows = await rootRows(reads, { source: { namespaceId }, limit: limit + 1, after: undefined })
    const topics = topicsOf([tracesIn(namespaceId), rootsIn(namespaceId)], rows)
    return { entries: await toEntries(rows, services), topics }
  }

  return {
    publicRoots,
    namespaceRoots,
    /** The answer to a request without a session, if it is in the cache. */
    cachedBody: (limit: number) => feedCache.get(keyOf(PUBLIC_TRACES, limit))?.body,
    publicPage: (limit: number) => pageOf('public', PUBLIC_TRACES, limit),
    namespacePage: (namespaceId: string, limit: number) =>
      pageOf({ namespaceId, withPublic: false }, tracesIn(namespaceId), limit),
  }
}
