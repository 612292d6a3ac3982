/** Calls by the normalised name of their tool, over all messages of a trace. */
export type ToolCounts = Readonly<Record<string, number>>

/** What calls of all further tools are counted as. */
const OTHER = 'other'

const MOST_NAMES = 500
/** Every event with counts repeats them all, and stays below 16 kB. */
const MOST_BYTES = 14_000
const LONGEST_NUMBER = 12

const bytesOf = (name: string) => Buffer.byteLength(JSON.stringify(name)) + LONGEST_NUMBER

/** The counts of a trace, while messages come and change. A message records the names under which its calls were counted. */
export const newToolCounts = (before: ToolCounts) => {
  const counts: Record<string, number> = { ...before }
  let names = Object.keys(counts).length
  let bytes = Object.keys(counts).reduce((sum, name) => sum + bytesOf(name), 0)

  const has = (name: string) => Object.hasOwn(counts, name)

  const count = (name: string, by: 1 | -1): void => {
    const old = has(name) ? counts[name]! : 0
    const hasEntry = old + by > 0
    if (hasEntry) counts[name] = old + by
    else delete counts[name]
    const change = Number(hasEntry) - Number(old > 0)
    names += change
    bytes += change * bytesOf(name)
  }

  /** Under which name a call would count: its own, if there is one or room for it. */
  const nameOf = (tool: string): string =>
    has(tool) || (names < MOST_NAMES && bytes + bytesOf(tool) <= MOST_BYTES) ? tool : OTHER

  /** Counts a call; gives the name under which it counts. */
  const add = (tool: string): string => {
    const name = nameOf(tool)
    count(name, 1)
    return name
  }

  /** Takes back a call that counts under this name. Older versions recorded the tool's own also where it counted as `other`. */
  const remove = (name: string): void => count(has(name) ? name : OTHER, -1)

  return { nameOf, add, remove, all: (): ToolCounts => counts }
}
