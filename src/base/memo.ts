/** A slice of a text holds all of it in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/** The number of texts of which it is known that they came before, at most; a power of 2. */
const NOTED = 64 * 1024

/**
 * Whether a text, or another one of the same number, came before. Most of the texts that come once never come again, and remembering one takes longer
 * than making most values.
 */
const newNotes = () => {
  const notes = new Int32Array(NOTED)
  return (text: string): boolean => {
    let number = text.length
    for (let i = 0; i < text.length; i++) number = Math.imul(number ^ text.charCodeAt(i), 0x01000193)
    const place = (number ^ (number >>> 15)) & (NOTED - 1)
    if (notes[place] === number) return true
    notes[place] = number
    return false
  }
}

/**
 * Remembers the results of a function for at least the last `most` texts that came twice. Two maps take turns, because in a single map the oldest
 * entry is slow to find after many were deleted.
 */
export const memo = <Value>(most: number, make: (text: string) => Value): ((text: string) => Value) => {
  let [recent, older] = [new Map<string, Value>(), new Map<string, Value>()]
  const cameBefore = newNotes()
  return (text) => {
    const found = recent.get(text)
    if (found !== undefined) return found
    const before = older.get(text)
    const value = before ?? make(text)
    if (before === undefined && !cameBefore(text)) return value
    if (recent.size >= most) [recent, older] = [new Map(), recent]
    recent.set(copyOf(text), value)
    return value
  }
}
