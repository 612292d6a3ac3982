import { type HashedMap, newHashedMap } from './hashed-map.ts'
import { beginning, type ObjectLine, type OnDamaged } from './lines.ts'
import { type Moment, momentOf, NEVER, type Part, type ReadLines, type Sequence } from './sequence.ts'
import { newTimedLines, type Progress, type TimedLines } from './timed-lines.ts'

/** How far one of several files was read. */
type FileProgress = Progress & {
  readonly path: string
  /** Its number among the files of the session. */
  readonly file: number
  /** What is added to the number of a line in the file. */
  shift: number
  /** The files that have some of its ordinals, because the session went on in both. */
  readonly parallel: Set<string>
}

/** How far several files were read as one. A reading begins with a new one, and moves it. */
export type Merge = {
  /** By their paths. */
  readonly files: Map<string, FileProgress>
  /** The records, each with the number of the file in which it was first. */
  readonly seen: HashedMap
  /** The number of the last line, and its file. */
  last: number
  lastFile: string | undefined
  /** Whether records were added that belong before some that were read. */
  isOutOfOrder: boolean
}

export const newMerge = (): Merge => ({
  files: new Map(),
  seen: newHashedMap(),
  last: 0,
  lastFile: undefined,
  isOutOfOrder: false,
})

/** A file, when its first record was written, and the folder in which it was begun. */
type Begun = Part & { readonly begins: Moment; readonly folder: string | undefined }

/** Reads the beginning of a file: it begins with the first record that has a time or an ordinal, to which those before it belong. */
const begunOf = async (readLines: ReadLines, sequence: Sequence, part: Part): Promise<Begun> => {
  const { path, size } = part
  let begins: Moment | undefined
  let folder: string | undefined
  for await (const lines of readLines(path, size, () => {}, beginning()))
    for (const { json } of lines) {
      begins ??= momentOf(sequence, json, NEVER)
      folder ??= await sequence.folderOf?.(json, path)
      if (begins && (folder !== undefined || !sequence.folderOf)) return { ...part, begins, folder }
    }
  return { ...part, begins: begins ?? NEVER, folder }
}

/** The files in the order of their first records: the fields of the trace are those of the first one. */
export const inOrder = async (
  readLines: ReadLines,
  sequence: Sequence,
  parts: readonly Part[],
): Promise<readonly Begun[]> => {
  const begun = await Promise.all(parts.map((part) => begunOf(readLines, sequence, part)))
  return begun.sort(({ begins: one }, { begins: other }) =>
    one.ordinal !== undefined && other.ordinal !== undefined && one.ordinal !== other.ordinal
      ? one.ordinal - other.ordinal
      : one.time - other.time || 0,
  )
}

/** Where a file stands. */
type Standing = Pick<FileProgress, 'path' | 'moment' | 'parallel'>

/** Whether the session went on in two files at once: there is an ordinal that both have had. */
const areParallel = (one: Standing, other: Standing): boolean => {
  if (one.moment.ordinal === other.moment.ordinal) {
    one.parallel.add(other.path)
    other.parallel.add(one.path)
  }
  return one.parallel.has(other.path)
}

/** Whether the next record of one file comes before that of another file. */
const isBefore = (one: Standing, other: Standing): boolean => {
  const [a, b] = [one.moment.ordinal, other.moment.ordinal]
  if (a !== undefined && b !== undefined && !areParallel(one, other)) return a < b
  return one.moment.time < other.moment.time
}

/** A file that is being read. */
type Reader = {
  readonly progress: FileProgress
  readonly lines: TimedLines
  /** Whether the session begins with it. */
  readonly isFirst: boolean
}

/** Whether a record was in another file before. */
const isCopy = ({ seen }: Merge, { idOf }: Sequence, file: number, { json, text }: ObjectLine): boolean => {
  const id = idOf?.(json)
  const name = id === undefined ? text : `id ${id}`
  const known = seen.get(name)
  if (known === undefined) seen.set(name, file)
  return known !== undefined && known !== file
}

/**
 * A line with its number in the session: a file that goes on alone keeps the numbers of its lines; after lines of another one they follow those.
 * Undefined for a copy.
 */
const numbered = (
  merge: Merge,
  sequence: Sequence,
  { progress, isFirst }: Reader,
  line: ObjectLine,
): ObjectLine | undefined => {
  const { path, file } = progress
  if (isCopy(merge, sequence, file, line)) return undefined
  const ordinal = sequence.continues?.(path) === true ? sequence.ordinalOf?.(line.json) : undefined
  if (merge.lastFile !== path || ordinal !== undefined) {
    const own = merge.lastFile === undefined ? line.number : 0
    progress.shift = Math.max(merge.last + 1, ordinal === undefined ? own : ordinal + 1) - line.number
    merge.lastFile = path
  }
  merge.last = line.number + progress.shift
  return { ...line, number: merge.last, ...(isFirst ? {} : { path }) }
}

/** The lines of a file until one of another file comes first, or the chunk ends. */
function* run(merge: Merge, sequence: Sequence, reader: Reader, others: readonly Reader[]): Generator<ObjectLine> {
  do {
    const line = numbered(merge, sequence, reader, reader.lines.line()!)
    if (line) yield line
  } while (reader.lines.advance() && !others.some((other) => isBefore(other.progress, reader.progress)))
}

/** The file with the first record; of several the one that was read last. */
const firstOf = ({ lastFile }: Merge, readers: readonly Reader[]): Reader => {
  const last = readers.find(({ progress }) => progress.path === lastFile) ?? readers[0]!
  return readers.reduce((first, other) => (isBefore(other.progress, first.progress) ? other : first), last)
}

const progressOf = ({ files }: Merge, { path, begins }: Begun): FileProgress => {
  const known = files.get(path)
  if (known) return known
  const progress = { path, file: files.size, place: beginning(), moment: begins, shift: 0, parallel: new Set<string>() }
  files.set(path, progress)
  return progress
}

/**
 * The lines of several files (`inOrder`) in the order in which they were written, each record once. Those of a file keep their order. `merge` says how
 * far they were read before, and moves. Only those files are open at the same time of which each has records before the end of the other one.
 */
export const mergedLines = (readLines: ReadLines, sequence: Sequence) =>
  async function* (parts: readonly Begun[], onDamaged: OnDamaged, merge: Merge): AsyncGenerator<Iterable<ObjectLine>> {
    const before: readonly Standing[] = [...merge.files.values()].map((progress) => ({ ...progress }))
    const readers = parts.map((part, index): Reader => {
      const progress = progressOf(merge, part)
      const damaged: OnDamaged = (line, lost) => onDamaged(line, lost, part.path)
      return { progress, lines: newTimedLines(readLines, sequence, part, progress, damaged), isFirst: index === 0 }
    })
    const isLate = ({ progress }: Reader) =>
      before.some((reached) => reached.path !== progress.path && !isBefore(reached, progress))
    try {
      while (readers.length > 0) {
        const reader = firstOf(merge, readers)
        if (!reader.lines.line()) {
          const isEnded = !(await reader.lines.readChunks())
          if (isEnded) readers.splice(readers.indexOf(reader), 1)
          else if (isLate(reader)) merge.isOutOfOrder = true
          continue
        }
        const others = readers.filter((other) => other !== reader)
        yield run(merge, sequence, reader, others)
      }
    } finally {
      await Promise.all(readers.map(({ lines }) => lines.close()))
    }
  }
