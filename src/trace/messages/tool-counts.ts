/** Calls by the normalised name of their tool, over all messages of a trace. */
export type ToolCounts = Readonly<Record<string, number>>

/** What calls of all further tools are counted as. */
const OTHER = 'other'

const MOST_NAMES = 500
/** Every event with counts repeats them all, and stays below 16 kB. */
const MOST_BYTES = 14_000
const LONGEST_NUMBER = 12

const bytesOf = (name: string) => Buffer.byteLength(JSON.stringify(name)) + LONGEST_NUMBER

/** The counts of a trace, while messages come and change. */
export const newToolCounts = (before: ToolCounts) => {
  const counts: Record<string, number> = { ...before }
  let names = Object.keys(counts).length
  let bytes = Object.keys(counts).reduce((sum, name) => sum + bytesOf(name), 0)

  /** Under which name a call counts: its own, if there is one or room for it. */
  const nameOf = (name: string, by: 1 | -1): string => {
    if (Object.hasOwn(counts, name)) return name
    return by === 1 && names < MOST_NAMES && bytes + bytesOf(name) <= MOST_BYTES ? name : OTHER
  }

  const count = (tool: string, by: 1 | -1): void => {
    const name = nameOf(tool, by)
    const old = Object.hasOwn(counts, name) ? counts[name]! : 0
    const hasEntry = old + by > 0
    if (hasEntry) counts[name] = old + by
    else delete counts[name]
    const change = Number(hasEntry) - Number(old > 0)
    names += change
    bytes += change * bytesOf(name)
  }

  return { count, all: (): ToolCounts => counts }
}
