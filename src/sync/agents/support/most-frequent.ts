/** Counts one more of `value`. */
export const count = (counts: Map<string, number>, value: string): void => {
  counts.set(value, (counts.get(value) ?? 0) + 1)
}

/** The value that was counted most often; the first one on a tie, undefined of none. */
export const mostFrequent = (counts: ReadonlyMap<string, number>): string | undefined => {
  let best: readonly [string, number] | undefined
  for (const entry of counts) if (!best || entry[1] > best[1]) best = entry
  return best?.[0]
}
