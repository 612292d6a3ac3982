/** A slice of a text holds all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/**
 * Remembers the results of a function for at least the last `most` texts. Two maps take turns, because in a single map the oldest
 * entry is slow to find after many were deleted.
 */
export const memo = <Value>(most: number, make: (text: string) => Value): ((text: string) => Value) => {
  let [recent, older] = [new Map<string, Value>(), new Map<string, Value>()]
  return (text) => {
    const found = recent.get(text)
    if (found !== undefined) return found
    const value = older.get(text) ?? make(text)
    if (recent.size >= most) [recent, older] = [new Map(), recent]
    recent.set(copyOf(text), value)
    return value
  }
}
