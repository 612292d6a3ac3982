import type { FoundDoc, Key } from './verify.ts'

/** The most hits of one trace in a window, so that a frequent word shows other traces too. */
export const MOST_OF_A_TRACE = 12

/** The hits of a trace in a window: all that are known, and those whose texts were read. */
type Hits = { readonly known: Map<number, Key>; readonly read: Map<number, FoundDoc> }

/** The hits of a window while it is searched. */
export const newHits = () => {
  const traces = new Map<string, Hits>()
  const without = new Set<string>()
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
    if (known.size >= MOST_OF_A_TRACE) without.add(traceId)
  }

  return {
    /** The traces that have enough hits. */
    without: without as ReadonlySet<string>,
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
