/** The number of calls in a trace by the key under which they are counted: the normalised name of their tool, or a key that is shown as `other`. */
type ToolCounts = Readonly<Record<string, number>>

/** What the calls of tools without a count of their own are shown as. The calls that have this key itself can no longer be told apart. */
const OTHER = 'other'
/** The key of a tool whose calls are shown as `other` until there is room: this and its name. No normalised name has a slash. */
const WAITING = `${OTHER}/`

/** How many tools have counts of their own. */
const MOST_NAMES = 500
/** Each event with counts has all of them; this keeps it below 16 kB. The rest is for tools that wait. */
const MOST_BYTES = 15_000
const MOST_BYTES_OF_NAMES = 13_000
const LONGEST_NUMBER = 12

const bytesOf = (key: string) => Buffer.byteLength(JSON.stringify(key)) + LONGEST_NUMBER

const isWaiting = (key: string) => key.startsWith(WAITING)

/** The JSON text of tool counts as they are shown: tools that wait are added to `other`. */
export const shownToolCounts = (text: string): string => {
  if (!text.includes(`"${WAITING}`)) return text
  const shown: Record<string, number> = {}
  let others = 0
  for (const [key, count] of Object.entries(JSON.parse(text) as ToolCounts))
    if (key === OTHER || isWaiting(key)) others += count
    else shown[key] = count
  return JSON.stringify({ ...shown, [OTHER]: others })
}

/**
 * The tool counts of a trace during a batch. All calls of a tool have the same key, but for those that were counted as `other` itself. A message
 * records for each call the name of its tool, or `other` for that key: so it is known which count a call is to be subtracted from,
 * also when its tool has got another key since.
 */
export const newToolCounts = (before: ToolCounts) => {
  const counts: Record<string, number> = { ...before }
  let [names, bytesOfNames, bytes] = [0, 0, 0]

  const has = (key: string) => Object.hasOwn(counts, key)

  /** Notes a key that is new (1) or gone (-1). */
  const note = (key: string, change: 1 | -1) => {
    bytes += change * bytesOf(key)
    if (key === OTHER || isWaiting(key)) return
    names += change
    bytesOfNames += change * bytesOf(key)
  }
  for (const key of Object.keys(counts)) note(key, 1)

  const hasRoom = (tool: string) => names < MOST_NAMES && bytesOfNames + bytesOf(tool) <= MOST_BYTES_OF_NAMES

  const count = (key: string, by: number): void => {
    const isNew = !has(key)
    const sum = (isNew ? 0 : counts[key]!) + by
    if (sum > 0) counts[key] = sum
    else delete counts[key]
    if (isNew && sum > 0) note(key, 1)
    else if (!isNew && sum <= 0) note(key, -1)
  }

  /** The key that has the calls of a tool; undefined if none has. */
  const keyOf = (tool: string): string | undefined => [tool, WAITING + tool].find(has)

  /** The key under which a call would be counted. */
  const keyFor = (tool: string): string => {
    const key = tool === OTHER ? OTHER : keyOf(tool)
    if (key !== undefined) return key
    if (hasRoom(tool) && bytes + bytesOf(tool) <= MOST_BYTES) return tool
    return bytes + bytesOf(WAITING + tool) <= MOST_BYTES ? WAITING + tool : OTHER
  }

  /** The name that a message would record for a call. */
  const nameOf = (tool: string): string => (keyFor(tool) === OTHER ? OTHER : tool)

  /** Counts a call, and returns the name that its message records. */
  const add = (tool: string): string => {
    const name = nameOf(tool)
    count(keyFor(tool), 1)
    return name
  }

  /** Subtracts a call by its recorded name. Older versions recorded the name of the tool also if it was counted as `other`. */
  const remove = (name: string): void => count(keyOf(name) ?? OTHER, -1)

  /** The counts at the end of the batch: tools that waited get counts of their own if there is room. */
  const all = (): ToolCounts => {
    for (const key of Object.keys(counts).filter(isWaiting)) {
      const tool = key.slice(WAITING.length)
      if (!hasRoom(tool)) continue
      const calls = counts[key]!
      count(key, -calls)
      count(tool, calls)
    }
    return counts
  }

  return { nameOf, add, remove, all }
}
