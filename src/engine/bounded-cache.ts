export type Memory<Value> = {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

/** About how many bytes texts take: a character may need two. */
export const textBytes = (texts: readonly (string | undefined)[]): number =>
  texts.reduce((sum, text) => sum + 2 * (text?.length ?? 0), 0)

/** Holds values up to a total weight: those set longest ago go first. What is too heavy by itself is not held at all. */
export const newMemory = <Value>(most: number, weigh: (value: Value) => number): Memory<Value> => {
  const held = new Map<string, { readonly value: Value; readonly weight: number }>()
  let total = 0

  const remove = (key: string) => {
    total -= held.get(key)?.weight ?? 0
    held.delete(key)
  }

  const set = (key: string, value: Value) => {
    remove(key)
    const weight = weigh(value)
    if (weight > most) return
    held.set(key, { value, weight })
    total += weight
    while (total > most) remove(held.keys().next().value!)
  }

  const clear = () => {
    held.clear()
    total = 0
  }

  return { get: (key) => held.get(key)?.value, set, delete: remove, clear }
}
