import type { FeedTrace } from '../contract/feed.ts'
import {
  type FacetName,
  type Hit,
  SEARCH_LIMIT,
  type SearchAnswer,
  type SearchResult,
  type search as api,
} from '../contract/search.ts'
import type { QueryOf } from '../contract/route.ts'
import { type FeedRow, type FeedSources, feedColumns, feedTables, toEntry } from '../feed/queries.ts'
import type { Row } from '../engine/reads.ts'
import { uuids } from '../postgres/arrays.ts'
import type { Caller } from '../http/caller.ts'
import { BOTTOM, type Place, cursorOf, firstPlace, isBelow, isFirst, nameOf, placeIn } from './cursor.ts'
import type { Wanted } from './candidates.ts'
import { facetsOf } from './facets.ts'
import { isExact } from './plan.ts'
import { type Query, readQuery, withConditions } from './query.ts'
import { type FoundTrace, byRelevance, byTime, shownText } from './rank.ts'
import type { ReadRows, SearchReads } from './reads.ts'
import { resolved, scopeOf } from './resolve.ts'
import { snippetOf } from './snippet.ts'
import type { FoundDoc } from './verify.ts'
import { MOST_OF_A_TRACE, readWindow, shownBefore } from './window.ts'

/** What searches need: the index, and what entries of the feed are made of. */
export type SearchServices = FeedSources & {
  readonly searches: SearchReads
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** The parameters of a search; all are optional. */
export type SearchQuery = Partial<QueryOf<(typeof api)['GET /v1/search']>>

const MOST_HITS = 3

/** The fields that may be given as parameters as well. */
const parameters = ['agent', 'model', 'tool', 'namespace', 'author', 'project', 'role', 'in'] as const

const queryOf = (given: SearchQuery): Query => {
  const values = parameters.flatMap((field) => {
    const value = given[field]
    return value === undefined || value === '' ? [] : [[field, value] as const]
  })
  return withConditions(readQuery(given.q ?? ''), values, given)
}

const hitOf = ({ ordinal, externalId, role, at, found }: FoundDoc): Hit => {
  const { text, marks } = shownText(found)
  const { text: shown, marks: inside } = snippetOf(text.text, marks)
  return {
    ...(externalId === undefined ? {} : { messageExternalId: externalId, ordinal }),
    ...(role === undefined ? {} : { role }),
    ...(text.part === undefined ? {} : { part: text.part }),
    in: text.place,
    at,
    snippet: { text: shown, marks: inside.map(([start, end]) => [start, end]) },
  }
}

const tracesStatement = `select ${feedColumns} from unnest($1::uuid[]) f (id) ${feedTables}`

/** The traces as lists show them, by id; without those that must not be shown. */
const tracesOf = async (rows: ReadRows, services: FeedSources, ids: readonly string[]) => {
  const found = ids.length === 0 ? [] : await rows<FeedRow & Row>('search-feed', tracesStatement, [uuids(ids)])
  return new Map(
    found.flatMap((row) => {
      const { id, text } = toEntry(row, services)
      return text === '' ? [] : [[id, JSON.parse(text) as FeedTrace] as const]
    }),
  )
}

const resultOf = ({ docs }: FoundTrace, trace: FeedTrace): SearchResult => ({
  trace,
  hits: docs.slice(0, MOST_HITS).map(hitOf),
  more: Math.max(0, docs.length - MOST_HITS),
})

/** Where the next page goes on: with further traces of this window, or with the next window. */
const nextPlace = (
  place: Place,
  end: Place['from'],
  page: readonly FoundTrace[],
  hasMore: boolean,
): Place | undefined => {
  const shown = [...place.shown, ...page.map(({ traceId }) => nameOf(traceId))]
  if (hasMore) return { ...place, to: end, shown: new Set(shown) }
  return isBelow(BOTTOM, end) ? { start: place.start, from: end, shown: new Set() } : undefined
}

const facets = (
  names: readonly FacetName[] | undefined,
  docs: readonly FoundDoc[],
  traces: ReadonlyMap<string, FeedTrace>,
) => (names ? { facets: facetsOf(names, docs, traces) } : {})

/**
 * Finds what one may read, by words: the index proposes, the texts decide. Everything is read in one snapshot, rights as well.
 * @throws 400 for an invalid cursor; Unavailable while there is no index
 */
export const search = (
  services: SearchServices,
  given: SearchQuery,
  caller: Pick<Caller, 'userId'> | undefined,
): Promise<SearchAnswer> => {
  const { searches, now } = services
  const { limit = SEARCH_LIMIT, sort = 'relevance' } = given
  const cursorPlace = given.cursor === undefined ? undefined : placeIn(given.cursor)
  const query = queryOf(given)
  const indexedThrough = now() - Math.ceil(searches.behindMs())

  return searches.snapshot(async (rows) => {
    const { position, namespaces, segments } = await scopeOf(rows, caller?.userId)
    const meant = await resolved(rows, query, namespaces)
    const wanted: Wanted = {
      query: meant,
      mostOfTrace: isExact(meant) ? MOST_OF_A_TRACE : undefined,
      userId: caller?.userId,
      namespaces,
      segments,
      hashOf: await searches.hashes(rows),
    }
    const place = cursorPlace ?? firstPlace(position)
    const { found, end } = await readWindow(rows, wanted, place, limit)
    const ids = [...new Set(found.map(({ traceId }) => traceId))]
    const [shown, traces] = [await shownBefore(rows, wanted, place, ids), await tracesOf(rows, services, ids)]
    const docs = found.filter(({ traceId }) => traces.has(traceId) && !shown.has(traceId))
    const all = (sort === 'newest' ? byTime : byRelevance)(docs)
    const left = all.filter(({ traceId }) => !place.shown.has(nameOf(traceId)))
    const page = left.slice(0, limit)
    const next = nextPlace(place, end, page, left.length > limit)
    const complete = !isBelow(BOTTOM, end)
    return {
      results: page.map((one) => resultOf(one, traces.get(one.traceId)!)),
      total: { value: all.length, exact: complete && isFirst(place) },
      ...facets(given.facets, docs, traces),
      complete,
      indexedThrough,
      ...(next ? { nextCursor: cursorOf(next) } : {}),
    }
  })
}
