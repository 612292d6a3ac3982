/** Values by key up to a total weight, such as their bytes in memory. (`../base/bounded-map.ts` bounds a number of entries.) */
export type WeightedCache<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  /** Deletes all values whose keys match. */
  deleteAll(matches: (key: string) => boolean): void
  clear(): void
}

/** About how many bytes texts take in memory: a character may need two. */
export const textBytes = (texts: readonly (string | undefined)[]): number =>
  texts.reduce((sum, text) => sum + 2 * (text?.length ?? 0), 0)

/**
 * Evicts the values that were set longest ago: a key that is set again is the newest. A value heavier than `maxWeight` is not held.
 */
export const newWeightedCache = <Value>(maxWeight: number, weigh: (value: Value) => number): WeightedCache<Value> => {
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  let total = 0

  const remove = (key: string) => {
    total -= entries.get(key)?.weight ?? 0
    entries.delete(key)
  }

  const set = (key: string, value: Value) => {
    remove(key)
    const weight = weigh(value)
    if (weight > maxWeight) return
    entries.set(key, { value, weight })
    total += weight
    while (total > maxWeight) remove(entries.keys().next().value!)
  }

  const deleteAll = (matches: (key: string) => boolean) => {
    for (const key of [...entries.keys()].filter(matches)) remove(key)
  }

  const clear = () => {
    entries.clear()
    total = 0
  }

  return { get: (key) => entries.get(key)?.value, set, delete: remove, deleteAll, clear }
}
