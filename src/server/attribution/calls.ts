import { type Where, newPlaces } from './places.ts'

/** What a call did to a file, with the asked lines among those that it wrote. */
export type WrittenFile = Where & {
  readonly traceId: string
  readonly ordinal: number
  readonly nth: number
  readonly file: number
  /** When the call was made, and when its message arrived. */
  readonly at: number
  readonly arrivedAt: number
  /** Equal for copies of a call. */
  readonly identity: bigint
  readonly isWhole: boolean
  /** The hashes of asked lines. */
  readonly written: ReadonlySet<string>
}

/** The calls that wrote each line, in the order of time. A session is a trace; a line is known by its hash. */
export type Writers = ReadonlyMap<string, readonly WrittenFile[]>

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** By the place in the session. */
const byPlace = (a: WrittenFile, b: WrittenFile): number => a.ordinal - b.ordinal || a.nth - b.nth || a.file - b.file

/** By arrival. Of what arrived in the same millisecond the order is fixed, too. */
const byArrival = (a: WrittenFile, b: WrittenFile): number =>
  a.arrivedAt - b.arrivedAt || compareText(a.traceId, b.traceId) || byPlace(a, b)

/** By the time of the call: a later one is greater. */
export const byTime = (a: WrittenFile, b: WrittenFile): number => a.at - b.at || byArrival(a, b)

const isSameCall = (a: WrittenFile, b: WrittenFile): boolean =>
  a.traceId === b.traceId && a.ordinal === b.ordinal && a.nth === b.nth

/** Of copies of a call only the first that arrived. */
const firstCopies = (files: readonly WrittenFile[]): WrittenFile[] =>
  [...Map.groupBy(files, ({ identity }) => identity).values()].flatMap((copies) => {
    const first = copies.reduce((a, b) => (byArrival(b, a) < 0 ? b : a))
    return copies.filter((copy) => isSameCall(copy, first))
  })

/**
 * Without files that are written whole and only have what an earlier call had written into them: that one keeps the line.
 * @param files that have one line, in the order of time
 */
const withoutTaken = (files: readonly WrittenFile[]): readonly WrittenFile[] => {
  if (files.length < 2 || files.every(({ isWhole }) => !isWhole)) return files
  const earlier = newPlaces()
  return files.filter((file) => {
    const isTaken = file.isWhole && earlier.has(file)
    earlier.add(file)
    return !isTaken
  })
}

/**
 * The calls that wrote each line: each once, without those of some traces. A call belongs to the trace that had it first; if that is one of `without`, its
 * copies do not count either.
 * @param files of calls that did not fail, of traces that are there
 * @param turn is awaited again and again, so that other work of the event loop gets its turn
 */
export const writersOf = async (
  files: readonly WrittenFile[],
  without: ReadonlySet<string>,
  turn: () => Promise<void>,
): Promise<Writers> => {
  const byLine = new Map<string, WrittenFile[]>()
  for (const file of firstCopies(files).sort(byTime)) {
    if (without.has(file.traceId)) continue
    for (const line of file.written) {
      const some = byLine.get(line)
      if (some) some.push(file)
      else byLine.set(line, [file])
    }
    await turn()
  }
  const writers = new Map<string, readonly WrittenFile[]>()
  for (const [line, some] of byLine) {
    writers.set(line, withoutTaken(some))
    await turn()
  }
  return writers
}
