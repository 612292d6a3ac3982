import { type Candidate, candidates } from './candidates.ts'
import { firstPageStart, isFirst, type PageStart, type Point } from './cursor.ts'
import type { ReadRows } from './reads.ts'
import { type IndexQuery, MOST_OF_A_TRACE } from './statements.ts'
import type { FoundDoc, Key, Verifier } from './verify.ts'

/** The hits of a trace in a window, by ordinal: all that are known, and those whose texts were read. */
type Hits = { readonly known: Map<number, Key>; readonly read: Map<number, FoundDoc> }

/** The hits of a window while it is searched. */
const newHits = () => {
  const traces = new Map<string, Hits>()
  const fullTraces = new Set<string>()
  let count = 0

  const hitsOf = (traceId: string): Hits => {
    const hits = traces.get(traceId) ?? { known: new Map(), read: new Map() }
    traces.set(traceId, hits)
    return hits
  }

  const addKnown = ({ traceId, ordinal }: Key) => {
    const { known } = hitsOf(traceId)
    count += known.has(ordinal) ? 0 : 1
    known.set(ordinal, { traceId, ordinal })
    if (known.size >= MOST_OF_A_TRACE) fullTraces.add(traceId)
  }

  return {
    /** The traces that have so many hits that no more of them are looked for. */
    fullTraces: fullTraces as ReadonlySet<string>,
    count: () => count,
    traces: () => traces.keys(),
    traceCount: () => traces.size,
    readOf: (traceId: string): number => traces.get(traceId)?.read.size ?? 0,
    addKnown,
    add: (doc: FoundDoc) => {
      addKnown(doc)
      hitsOf(doc.traceId).read.set(doc.ordinal, doc)
    },
    known: (): Key[] => [...traces.values()].flatMap(({ known }) => [...known.values()]),
    read: (): FoundDoc[] => [...traces.values()].flatMap(({ read }) => [...read.values()]),
  }
}

export type Sort = 'relevance' | 'newest'

/** The number of hits that ends a window. */
const ENOUGH_HITS = 100
/** The most candidates whose texts are read for a window. */
const MOST_CANDIDATES = 2_000
/** How long a window may take in milliseconds, and how long while it has too few traces for a page. */
const MOST_MS = 250
const MOST_MS_BELOW_A_PAGE = 400
/** How long a window whose end is known may take. It took less when its end was found, unless the cursor is forged or the machine is busy. */
const MOST_MS_OF_KNOWN_WINDOW = 2_000
/** The most hits of one trace whose texts are read, if the index alone can answer the query: those that may be shown, and one more. */
const MOST_READ_OF_A_TRACE = 4

/** A range of successive rows, down to `end`, and the hits among them. */
type Window = {
  readonly hits: readonly Key[]
  readonly read: readonly FoundDoc[]
  readonly end: Point
}

/** The rows of one trace, the ones that are to be read first in front. */
type Group = { readonly traceId: string; readonly newest: Candidate; readonly rows: readonly Candidate[] }

/** Rows by trace, the latest trace first. Those of each trace come by their best place if hits are sorted by relevance, the latest first. */
const groupsOf = (rows: readonly Candidate[], sort: Sort): Group[] =>
  [...Map.groupBy(rows, ({ traceId }) => traceId)].map(([traceId, all]) => ({
    traceId,
    newest: all[0]!,
    rows: sort === 'relevance' ? all.toSorted((a, b) => a.place - b.place) : all,
  }))

/** Searches the rows that the index proposes until there are enough hits, or until the time is over. A window whose end is known is searched to its end. */
export const readWindow = async (
  readRows: ReadRows,
  verifier: Verifier,
  wanted: IndexQuery,
  pageStart: PageStart,
  { limit, sort }: { readonly limit: number; readonly sort: Sort },
): Promise<Window> => {
  const started = performance.now()
  const { readable, verify, verifyTraceItself } = verifier
  const hits = newHits()
  let end = pageStart.below

  const mostMs = (): number => {
    if (pageStart.downTo) return MOST_MS_OF_KNOWN_WINDOW
    return hits.traceCount() > limit ? MOST_MS : MOST_MS_BELOW_A_PAGE
  }
  const isOver = (): boolean => performance.now() - started > mostMs()
  const isEnough = () => isOver() || (!pageStart.downTo && hits.count() >= ENOUGH_HITS && hits.traceCount() > limit)

  /** Reads the texts of rows in their order. Returns whether the window has to end here. */
  const readInOrder = async (proposed: readonly Candidate[]): Promise<boolean> => {
    for await (const [candidate, doc] of verify(proposed, ({ traceId }) => !hits.fullTraces.has(traceId))) {
      end = candidate
      if (doc && !hits.fullTraces.has(doc.traceId)) hits.add(doc)
      if (isEnough()) return true
    }
    return false
  }

  /**
   * For a query that the index can answer: reads the texts of the best rows of each trace, and counts its other rows as hits unread. Returns
   * whether the time was over before the last trace.
   */
  const readBest = async (proposed: readonly Candidate[]): Promise<boolean> => {
    const groups = groupsOf(proposed, sort)
    const chosen = groups.flatMap(({ traceId, rows }) =>
      rows.slice(0, Math.max(0, MOST_READ_OF_A_TRACE - hits.readOf(traceId))),
    )
    let current = chosen[0]?.traceId
    let firstUnread = groups.length
    for await (const [{ traceId }, doc] of verify(chosen)) {
      if (traceId !== current && isOver()) {
        firstUnread = groups.findIndex((group) => group.traceId === traceId)
        break
      }
      current = traceId
      if (doc) hits.add(doc)
    }
    const finished = groups.slice(0, firstUnread)
    // None of the best rows of these traces matched: their texts may have changed since the index read them.
    const others = finished.filter(({ traceId }) => hits.readOf(traceId) === 0).flatMap(({ rows }) => rows)
    for await (const [, doc] of verify(others, ({ traceId }) => hits.readOf(traceId) === 0)) if (doc) hits.add(doc)
    for (const { traceId, rows } of finished) if (hits.readOf(traceId) > 0) rows.forEach(hits.addKnown)
    if (firstUnread === groups.length) return false
    end = proposed[proposed.indexOf(groups[firstUnread]!.newest) - 1]!
    return true
  }

  /**
   * Ends the window at a point. The texts of the traces themselves are searched as well, because a hit in a title counts most, and the row of
   * a trace comes after those of all its messages.
   */
  const endWindowAt = async (end: Point): Promise<Window> => {
    for (const traceId of [...hits.traces()]) {
      const found = await verifyTraceItself(traceId)
      if (found) hits.add(found)
    }
    return { hits: hits.known(), read: hits.read(), end }
  }

  const read = wanted.isExact ? readBest : readInOrder
  const range = { below: pageStart.below, downTo: pageStart.downTo, except: hits.fullTraces }
  for await (const found of candidates(readRows, wanted, range, MOST_CANDIDATES)) {
    if (await read(await readable(found.proposed))) return endWindowAt(end)
    end = found.end
    if (isEnough()) return endWindowAt(end)
  }
  return endWindowAt(pageStart.downTo ?? end)
}

/** Which of these traces an earlier page has shown, because they also have a newer hit there. */
export const shownBefore = async (
  readRows: ReadRows,
  { readable, verify }: Verifier,
  wanted: IndexQuery,
  pageStart: PageStart,
  traces: readonly string[],
): Promise<ReadonlySet<string>> => {
  const shown = new Set<string>()
  if (isFirst(pageStart) || traces.length === 0) return shown
  const range = {
    below: firstPageStart(pageStart.lastPosition, pageStart.portions).below,
    downTo: pageStart.below,
    traces,
  }
  for await (const { proposed } of candidates(readRows, wanted, range, MOST_CANDIDATES)) {
    const groups = groupsOf(await readable(proposed), 'newest')
    const ordered = [...groups.map(({ newest }) => newest), ...groups.flatMap(({ rows }) => rows)]
    for await (const [{ traceId }, doc] of verify(ordered, ({ traceId }) => !shown.has(traceId)))
      if (doc) shown.add(traceId)
  }
  return shown
}
