/** Values by key up to a total size, such as their bytes in memory. (`../../base/bounded-map.ts` bounds the number of entries.) */
export type SizedCache<Value> = {
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

/** Evicts the values that were set longest ago; setting a key again makes it the newest. Does not cache values over `maxSize`. */
export const newSizedCache = <Value>(maxSize: number, sizeOf: (value: Value) => number): SizedCache<Value> => {
  const entries = new Map<string, { readonly value: Value; readonly size: number }>()
  let total = 0

  const remove = (key: string) => {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  const set = (key: string, value: Value) => {
    remove(key)
    const size = sizeOf(value)
    if (size > maxSize) return
    entries.set(key, { value, size })
    total += size
    while (total > maxSize) remove(entries.keys().next().value!)
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
