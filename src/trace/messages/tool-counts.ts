/** The number of calls in a trace by the normalised name of their tool. */
type ToolCounts = Readonly<Record<string, number>>

/** The name under which the calls of all further tools are counted. */
const OTHER = 'other'

const MOST_NAMES = 500
/** Each event with counts has all of them; this keeps it below 16 kB. */
const MOST_BYTES = 14_000
const LONGEST_NUMBER = 12

const bytesOf = (name: string) => Buffer.byteLength(JSON.stringify(name)) + LONGEST_NUMBER

/** The tool counts of a trace during a batch. A message records the names under which its calls were counted. */
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

  /** The name under which a call would be counted: that of its tool, if the tool has a count already or there is room for one. */
  const nameOf = (tool: string): string =>
    has(tool) || (names < MOST_NAMES && bytes + bytesOf(tool) <= MOST_BYTES) ? tool : OTHER

  /** Counts a call, and returns the name under which it is counted. */
  const add = (tool: string): string => {
    const name = nameOf(tool)
    count(name, 1)
    return name
  }

  /** Subtracts a call that is counted under this name. Older versions recorded the name of the tool also if it was counted as `other`. */
  const remove = (name: string): void => count(has(name) ? name : OTHER, -1)

  return { nameOf, add, remove, all: (): ToolCounts => counts }
}
