import { type Wanted, candidates } from './candidates.ts'
import { type Place, type Point, firstPlace, isFirst } from './cursor.ts'
import type { ReadRows } from './reads.ts'
import { type FoundDoc, newVerifier } from './verify.ts'

/** Enough is found. */
const ENOUGH = 200
/** So many candidates are looked at. */
const MOST_LOOKED_AT = 2_000
/** So long is looked, in milliseconds; a little longer as long as a page has less than its number of traces. */
const MOST_MS = 250
const MOST_MS_FOR_A_PAGE = 400
/** A window whose end is known took less when it was found; a cursor that was made up, or a busy machine, may let it take longer. */
const MOST_MS_OF_KNOWN = 2_000
/** Of a trace with so many hits no more are looked at, so that a frequent word shows other traces, too. */
export const MOST_OF_A_TRACE = 12
/** What was found among rows one behind the other, down to `end`. */
export type Window = { readonly found: readonly FoundDoc[]; readonly end: Point }

/** Looks at what the index proposes until enough is found, or for long enough. A window whose end is known is looked at up to there. */
export const readWindow = async (rows: ReadRows, wanted: Wanted, place: Place, limit: number): Promise<Window> => {
  const started = performance.now()
  const verify = newVerifier(rows, wanted.query)
  const found = new Map<string, FoundDoc>()
  const traces = new Map<string, number>()
  const without = new Set<string>()
  let end = place.from

  const isEnough = () => {
    if (place.to) return performance.now() - started > MOST_MS_OF_KNOWN
    if (found.size >= ENOUGH && traces.size > limit) return true
    return performance.now() - started > (traces.size > limit ? MOST_MS : MOST_MS_FOR_A_PAGE)
  }

  const add = (doc: FoundDoc) => {
    found.set(`${doc.traceId}/${doc.ordinal}`, doc)
    const count = (traces.get(doc.traceId) ?? 0) + 1
    traces.set(doc.traceId, count)
    if (count >= MOST_OF_A_TRACE) without.add(doc.traceId)
  }

  const windowTo = (end: Point): Window => ({ found: [...found.values()], end })

  const range = { below: place.from, downTo: place.to, without }
  for await (const proposed of candidates(rows, wanted, range, MOST_LOOKED_AT)) {
    for await (const [candidate, doc] of verify(proposed.readable, ({ traceId }) => !without.has(traceId))) {
      end = candidate
      if (doc && !without.has(doc.traceId)) add(doc)
      if (isEnough()) return windowTo(end)
    }
    end = proposed.end
    if (isEnough()) return windowTo(end)
  }
  return windowTo(place.to ?? end)
}

/** Which of these traces were found on an earlier page: something newer was found of them there. */
export const shownBefore = async (
  rows: ReadRows,
  wanted: Wanted,
  place: Place,
  traces: readonly string[],
): Promise<ReadonlySet<string>> => {
  const shown = new Set<string>()
  if (isFirst(place) || traces.length === 0) return shown
  const verify = newVerifier(rows, wanted.query)
  const range = { below: firstPlace(place.start).from, downTo: place.from, traces }
  for await (const { readable } of candidates(rows, wanted, range, MOST_LOOKED_AT))
    for await (const [{ traceId }, doc] of verify(readable, ({ traceId }) => !shown.has(traceId)))
      if (doc) shown.add(traceId)
  return shown
}
