/** Counts one more of `value`. */
export const count = (counts: Map<string, number>, value: string): void => {
  counts.set(value, (counts.get(value) ?? 0) + 1)
}

/** How often each value occurs. */
export const countsOf = (values: Iterable<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) count(counts, value)
  return counts
}

/** The value that was counted most often; the first one on a tie, undefined of none. */
export const mostFrequent = (counts: ReadonlyMap<string, number>): string | undefined => {
  let best: readonly [string, number] | undefined
  for (const entry of counts) if (!best || entry[1] > best[1]) best = entry
  return best?.[0]
}
