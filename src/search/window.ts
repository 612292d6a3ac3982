import { TRACE_ITSELF } from '../../projections/search/tables.ts'
import { type IndexQuery, candidates } from './candidates.ts'
import { type PageStart, type Point, firstPageStart, isFirst } from './cursor.ts'
import type { ReadRows } from './reads.ts'
import { type FoundDoc, newVerifier } from './verify.ts'

/** The number of hits that ends a window. */
const ENOUGH = 200
/** The most candidates whose texts are read for a window. */
const MOST_LOOKED_AT = 2_000
/** How long a window may take in milliseconds, and how long while the page has fewer traces than its limit. */
const MOST_MS = 250
const MOST_MS_FOR_A_PAGE = 400
/** How long a window whose end is known may take. It took less when its end was found, unless the cursor is forged or the machine is busy. */
const MOST_MS_OF_KNOWN = 2_000
/** The most hits of one trace in a window, so that a frequent word shows other traces too. */
export const MOST_OF_A_TRACE = 12

/** A range of successive rows, down to `end`, and the hits among them. */
export type Window = { readonly found: readonly FoundDoc[]; readonly end: Point }

const keyOf = ({ traceId, ordinal }: Pick<FoundDoc, 'traceId' | 'ordinal'>): string => `${traceId}/${ordinal}`

/** Searches the rows that the index proposes until there are enough hits, or until the time is over. A window whose end is known is searched to its end. */
export const readWindow = async (
  rows: ReadRows,
  wanted: IndexQuery,
  pageStart: PageStart,
  limit: number,
): Promise<Window> => {
  const started = performance.now()
  const { verify, ownWords } = newVerifier(rows, wanted.query)
  const found = new Map<string, FoundDoc>()
  const traces = new Map<string, number>()
  const without = new Set<string>()
  let end = pageStart.from

  const isEnough = () => {
    if (pageStart.to) return performance.now() - started > MOST_MS_OF_KNOWN
    if (found.size >= ENOUGH && traces.size > limit) return true
    return performance.now() - started > (traces.size > limit ? MOST_MS : MOST_MS_FOR_A_PAGE)
  }

  const add = (doc: FoundDoc) => {
    found.set(keyOf(doc), doc)
    const count = (traces.get(doc.traceId) ?? 0) + 1
    traces.set(doc.traceId, count)
    if (count >= MOST_OF_A_TRACE) without.add(doc.traceId)
  }

  /** The row of a trace's title is behind those of all its messages: it is verified besides, because a hit there counts most. */
  const windowTo = async (end: Point): Promise<Window> => {
    for (const traceId of traces.keys()) {
      const own = found.has(keyOf({ traceId, ordinal: TRACE_ITSELF })) ? undefined : await ownWords(traceId)
      if (own) found.set(keyOf(own), own)
    }
    return { found: [...found.values()], end }
  }

  const range = { below: pageStart.from, downTo: pageStart.to, without }
  for await (const proposed of candidates(rows, wanted, range, MOST_LOOKED_AT)) {
    for await (const [candidate, doc] of verify(proposed.readable, ({ traceId }) => !without.has(traceId))) {
      end = candidate
      if (doc && !without.has(doc.traceId)) add(doc)
      if (isEnough()) return windowTo(end)
    }
    end = proposed.end
    if (isEnough()) return windowTo(end)
  }
  return windowTo(pageStart.to ?? end)
}

/** Which of these traces an earlier page has shown, because they also have a newer hit there. */
export const shownBefore = async (
  rows: ReadRows,
  wanted: IndexQuery,
  pageStart: PageStart,
  traces: readonly string[],
): Promise<ReadonlySet<string>> => {
  const shown = new Set<string>()
  if (isFirst(pageStart) || traces.length === 0) return shown
  const { verify } = newVerifier(rows, wanted.query)
  const range = { below: firstPageStart(pageStart.indexedTo).from, downTo: pageStart.from, traces }
  for await (const { readable } of candidates(rows, wanted, range, MOST_LOOKED_AT))
    for await (const [{ traceId }, doc] of verify(readable, ({ traceId }) => !shown.has(traceId)))
      if (doc) shown.add(traceId)
  return shown
}
