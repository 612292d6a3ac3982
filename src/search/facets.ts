import type { FeedTrace } from '../contract/feed.ts'
import type { FacetName, SearchAnswer } from '../contract/search.ts'
import type { FoundValues } from './verify.ts'

/** The most values that are shown of a field. */
const MOST_VALUES = 50

/** The values that a hit has of a field. A namespace is shown by its slug. */
const valuesOf = (name: FacetName, { values }: FoundValues, trace: FeedTrace | undefined): readonly string[] => {
  if (name !== 'namespace') return values[name] ?? []
  return trace ? [trace.namespace.slug] : []
}

/** The values of each field among the hits, with the number of traces that have it. */
export const facetsOf = (
  names: readonly FacetName[],
  hits: readonly FoundValues[],
  traces: ReadonlyMap<string, FeedTrace>,
): NonNullable<SearchAnswer['facets']> => {
  const counts = names.map((name) => {
    const found = new Map<string, Set<string>>()
    for (const hit of hits)
      for (const value of valuesOf(name, hit, traces.get(hit.traceId)))
        found.set(value, (found.get(value) ?? new Set()).add(hit.traceId))
    const all = [...found].map(([value, ids]) => ({ value, count: ids.size }))
    const sorted = all.toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
    return [name, sorted.slice(0, MOST_VALUES)] as const
  })
  return Object.fromEntries(counts)
}
