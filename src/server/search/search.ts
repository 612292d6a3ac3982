import type { FeedTrace } from '../../contract/feed.ts'
import type { QueryOf } from '../../contract/route.ts'
import { type FacetName, type search as api, SEARCH_LIMIT, type SearchAnswer } from '../../contract/search.ts'
import type { Row } from '../../eventstore/engine/reads.ts'
import { feedColumns, type FeedRow, type FeedSources, feedTables, toEntries } from '../feed/queries.ts'
import type { Caller } from '../http/caller.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import type { TraceRow } from '../trace/tokens/stored-rows.ts'
import type { IndexQuery } from './statements.ts'
import {
  BOTTOM,
  cursorOf,
  firstPageStart,
  isBelow,
  isFirst,
  nextPageStart,
  type PageStart,
  pageStartIn,
  shortId,
} from './cursor.ts'
import { isExact } from './plan.ts'
import { type Query, meantBy, readQuery, withConditions } from './query.ts'
import { byRelevance, byTime } from './rank.ts'
import type { ReadRows, SearchReads } from './reads.ts'
import { resolved, scopeOf } from './resolve.ts'
import { resultOf } from './results.ts'
import type { QueryClock } from './times.ts'
import { type FoundValues, type Key, newVerifier, type Verifier } from './verify.ts'
import { readWindow, shownBefore, type Sort } from './window.ts'

/** The most values that are shown of a field. */
const MOST_VALUES = 50

/** The values that a hit has of a field. A namespace is shown by its slug. */
const valuesOf = (name: FacetName, { values }: FoundValues, trace: FeedTrace | undefined): readonly string[] => {
  if (name !== 'namespace') return values[name] ?? []
  return trace ? [trace.namespace.slug] : []
}

/** The values of each field among the hits, with the number of traces that have it, and the names of authors. */
const facetsOf = (
  names: readonly FacetName[],
  hits: readonly FoundValues[],
  traces: ReadonlyMap<string, FeedTrace>,
): NonNullable<SearchAnswer['facets']> => {
  const authors = new Map([...traces.values()].map(({ author }) => [author?.id, author?.displayName]))
  const counts = names.map((name) => {
    const found = new Map<string, Set<string>>()
    for (const hit of hits)
      for (const value of valuesOf(name, hit, traces.get(hit.traceId)))
        found.set(value, (found.get(value) ?? new Set()).add(hit.traceId))
    const all = [...found].map(([value, ids]) => {
      const displayName = name === 'author' ? authors.get(value) : undefined
      return { value, count: ids.size, ...(displayName === undefined ? {} : { name: displayName }) }
    })
    const sorted = all.toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    return [name, sorted.slice(0, MOST_VALUES)] as const
  })
  return Object.fromEntries(counts)
}

/** What a search needs: the index, and the sources of the traces that it shows. */
export type SearchServices = FeedSources & {
  readonly searches: SearchReads
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** The parameters of a search; all are optional. */
type SearchQuery = Partial<QueryOf<(typeof api)['GET /v1/search']>>

/** The fields of a query that the API also takes as parameters. */
const parameters = ['agent', 'model', 'tool', 'namespace', 'author', 'project', 'role', 'in'] as const

const queryOf = (given: SearchQuery, clock: QueryClock): Query => {
  const values = parameters.flatMap((field) => {
    const value = given[field]
    return value === undefined || value === '' ? [] : [[field, value] as const]
  })
  return withConditions(readQuery(given.q ?? '', clock), values, given)
}

const tracesStatement = `select ${feedColumns} from unnest($1::uuid[]) f (id) ${feedTables}`

/** The traces as lists show them, by id, without those that lists leave out. */
const tracesOf = async (readRows: ReadRows, services: FeedSources, ids: readonly string[]) => {
  const found = ids.length === 0 ? [] : await readRows<FeedRow & Row>('search-feed', tracesStatement, [uuids(ids)])
  const entries = await toEntries(found, services)
  return new Map(entries.flatMap(({ id, text }) => (text === '' ? [] : [[id, JSON.parse(text) as FeedTrace] as const])))
}

/** How a page is made. */
type Paging = { readonly pageStart: PageStart; readonly limit: number; readonly sort: Sort }

/** Finds the traces of a window, without traces that an earlier page showed because of newer hits, and without traces in quarantine. */
const findTraces = async (
  readRows: ReadRows,
  verifier: Verifier,
  { wanted, reads }: { readonly wanted: IndexQuery; readonly reads: FeedSources['reads'] },
  { pageStart, limit, sort }: Paging,
) => {
  const window = await readWindow(readRows, verifier, wanted, pageStart, { limit, sort })
  const ids = [...new Set(window.read.map(({ traceId }) => traceId))]
  const shownEarlier = await shownBefore(readRows, verifier, wanted, pageStart, ids)
  const isNotQuarantined = ({ id, namespace_id }: TraceRow) =>
    reads.isNotQuarantined(`trace-${id}`, `namespace-${namespace_id}`)
  const showable = new Set(ids.filter((id) => !shownEarlier.has(id) && isNotQuarantined(verifier.traceOf(id)!)))
  const isShowable = ({ traceId }: Key) => showable.has(traceId)
  const hits = window.hits.filter(isShowable)
  const hitsByTrace = Map.groupBy(hits, ({ traceId }) => traceId)
  const sorted = sort === 'newest' ? byTime : byRelevance
  return { end: window.end, hits, traces: sorted(window.read.filter(isShowable), (id) => hitsByTrace.get(id)!.length) }
}

/**
 * Finds messages and traces that the caller may read, by words: the index proposes, the texts decide. Everything is read in one snapshot,
 * rights as well.
 * @throws 400 for an invalid cursor; Unavailable while there is no index
 */
export const search = (
  services: SearchServices,
  given: SearchQuery,
  caller: Pick<Caller, 'userId'> | undefined,
): Promise<SearchAnswer> => {
  const { searches, reads, now } = services
  const { limit = SEARCH_LIMIT, sort = 'relevance' } = given
  const givenStart = given.cursor === undefined ? undefined : pageStartIn(given.cursor)
  const clock: QueryClock = { now: now(), zone: given.tz ?? 'UTC' }
  const asked = queryOf(given, clock)
  const readThrough = now() - Math.ceil(searches.behindMs())

  return searches.snapshot(async (readRows) => {
    const { position, portions, waitingSince, roles, segments } = await scopeOf(readRows, caller?.userId)
    const namespaces = [...roles.keys()]
    const query = await resolved(readRows, asked, namespaces)
    const hashOf = await searches.hashes(readRows)
    const pageStart = givenStart ?? firstPageStart(position, portions)
    const index = { namespaces, segments, hashOf, portions: pageStart.portions }
    const wanted: IndexQuery = { query, isExact: isExact(query), ...index }
    const verifier = newVerifier(readRows, query, roles)
    const found = await findTraces(readRows, verifier, { wanted, reads }, { pageStart, limit, sort })

    const notShown = found.traces.filter(({ traceId }) => !pageStart.shown.has(shortId(traceId)))
    const page = notShown.slice(0, limit)
    const ofPage = page.map(({ traceId }) => traceId)
    const next = nextPageStart(pageStart, found.end, ofPage, notShown.length > limit)
    const needed = given.facets ? found.traces : page
    const ids = needed.map(({ traceId }) => traceId)
    const traces = await tracesOf(readRows, services, ids)
    const complete = !isBelow(BOTTOM, found.end)
    const meant = page.length === 0 ? meantBy(asked, clock) : []
    return {
      results: page.flatMap((one) => {
        const trace = traces.get(one.traceId) // undefined for one that lists do not show
        return trace ? [resultOf(one, trace)] : []
      }),
      total: { value: found.traces.length, exact: complete && isFirst(pageStart) },
      ...(given.facets ? { facets: facetsOf(given.facets, await verifier.valuesOf(found.hits), traces) } : {}),
      ...(asked.notUnderstood.length > 0 ? { notUnderstood: [...asked.notUnderstood] } : {}),
      ...(meant.length > 0 ? { meant } : {}),
      complete,
      indexedThrough: Math.min(readThrough, waitingSince - 1),
      ...(next ? { nextCursor: cursorOf(next) } : {}),
    }
  })
}
