import { MOST_OF_A_TRACE } from './candidates.ts'
import type { FoundDoc, Key } from './verify.ts'

/** The hits of a trace in a window, by ordinal: all that are known, and those whose texts were read. */
type Hits = { readonly known: Map<number, Key>; readonly read: Map<number, FoundDoc> }

/** The hits of a window while it is searched. */
export const newHits = () => {
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
