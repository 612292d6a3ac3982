import { type HashedMap, newHashedMap } from './hashed-map.ts'
import { type Json, millisecondsOf } from './json.ts'
import { beginning, type ObjectLine, type OnDamaged, type Place } from './lines.ts'

/** One of the files of a session, of which the first `size` bytes are read. */
export type Part = { readonly path: string; readonly size: number }
/** All files of a session, of which one suffices. */
export type Parts = readonly [Part, ...Part[]]

/** The lines of a file from the place `at` on, which moves with them, in parts (`linesInParts`). */
export type ReadLines = (
  path: string,
  size: number,
  onDamaged: OnDamaged,
  at: Place,
) => AsyncIterable<Iterable<ObjectLine>>

/** What an agent writes into each record by which those of several files are put in order. The time is that in `timestamp`. */
export type Sequence = {
  /** The number that the agent gives the records of a session, one after the other. Where two files have the same one, their times count. */
  readonly ordinalOf?: (json: Json) => number | undefined
  /** An id that a copy of the record in another file has, too. Without one, a copy has the same text. */
  readonly idOf?: (json: Json) => string | undefined
  /** Whether a file goes on with a session that another one begins: it is numbered by the ordinals also where that one is missing. */
  readonly continues?: (path: string) => boolean
  /** The folder that a record says its file was begun in: the rules of its project hold, too. */
  readonly folderOf?: (json: Json, path: string) => string | undefined | Promise<string | undefined>
}

/** Where a record stands in the session. One without a time stands before the next one of its file that has some, or after all others. */
type Key = { readonly time: number; readonly ordinal: number | undefined }

/** Of files without times. */
const LAST: Key = { time: Infinity, ordinal: undefined }
/** No time is later. */
const END = 1e16
/** Of the records after the last one of a file that has a time. */
const afterAll = ({ time }: Key): Key => ({ time: time >= END ? time : END + time, ordinal: undefined })

/** For so many records the next time is looked for. */
const MOST_AHEAD = 1_000

/** How far a file was read, the key of its last record, and what is added to the number of a line in the file. */
type Position = { readonly place: Place; key: Key; shift: number }

/**
 * How far several files were read as one: for each the position; the number of the last line; and a hash of each record,
 * with the file in which it was first. A reading begins with a new one, and moves it.
 */
export type Merge = {
  readonly reached: Map<string, Position>
  readonly seen: HashedMap
  readonly files: string[]
  /** For each file those that have some of its ordinals, because the session went on in both. */
  readonly parallel: Map<string, Set<string>>
  last: number
  lastFile: string | undefined
  /** Whether records were added that belong before some that were read. */
  isOutOfOrder: boolean
}

export const newMerge = (): Merge => ({
  reached: new Map(),
  seen: newHashedMap(),
  files: [],
  parallel: new Map(),
  last: 0,
  lastFile: undefined,
  isOutOfOrder: false,
})

/** Undefined for a record that has neither a time nor an ordinal. `before` is the key of the one before in its file. */
const keyOf = ({ ordinalOf }: Sequence, json: Json, before: Key): Key | undefined => {
  const time = millisecondsOf(json['timestamp'])
  const ordinal = ordinalOf?.(json)
  if (time === undefined && ordinal === undefined) return undefined
  const earlier = before.time >= END ? -Infinity : before.time
  return { time: Math.max(time ?? -Infinity, earlier), ordinal: ordinal ?? before.ordinal }
}

/** A file, where its first record stands, and the folder in which it was begun. */
type Begun = Part & { readonly begins: Key; readonly folder: string | undefined }

/** Reads the beginning of a file: it stands where the first record does that has a key, since those before it belong to it. */
const begunOf = async (readLines: ReadLines, sequence: Sequence, part: Part): Promise<Begun> => {
  const { path, size } = part
  let key: Key | undefined
  let folder: string | undefined
  for await (const lines of readLines(path, size, () => {}, beginning()))
    for (const { json } of lines) {
      key ??= keyOf(sequence, json, LAST)
      folder ??= await sequence.folderOf?.(json, path)
      if (key && (folder !== undefined || !sequence.folderOf)) return { ...part, begins: key, folder }
    }
  return { ...part, begins: key ?? LAST, folder }
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

type KeyIn = { readonly path: string; readonly key: Key }

/** `key` is that of the head; before a file is opened, that of the record with which it begins, or after which it goes on. */
type Reader = KeyIn & {
  readonly isFirst: boolean
  /** The next line; undefined if the next chunk has to be read first. */
  readonly head: () => ObjectLine | undefined
  /** Moves to the next line of the chunk. False at its end. */
  readonly next: () => boolean
  /** Reads chunks until there is a head. False at the end of the file. */
  readonly fill: () => Promise<boolean>
  readonly close: () => Promise<unknown>
  readonly at: Position
}

/** Reads a file from a position on, which moves. It is opened with the first `fill`. */
const newReader = (
  readLines: ReadLines,
  sequence: Sequence,
  { path, size, isFirst }: Part & { readonly isFirst: boolean },
  at: Position,
  onDamaged: OnDamaged,
): Reader => {
  let chunks: AsyncIterator<Iterable<ObjectLine>> | undefined
  let lines: Iterator<ObjectLine> | undefined
  let [isReady, isEnded] = [false, false]
  /** The lines up to the next one that has a time, of which the first one is the head; `last` is the key of the last of them. */
  const ahead: ObjectLine[] = []
  let last = at.key

  /** Reads on in the chunk until a line has a time. False if the chunk ends before. */
  const look = (): boolean => {
    for (let found = lines?.next(); found?.done === false; found = lines?.next()) {
      const key = keyOf(sequence, found.value.json, last)
      last = key ?? last
      ahead.push(found.value)
      if (key || ahead.length >= MOST_AHEAD) return true
    }
    return false
  }
  const next = (): boolean => {
    ahead.shift()
    if (ahead.length > 0) return true
    isReady = look()
    if (isReady) at.key = last
    return isReady
  }
  const fill = async (): Promise<boolean> => {
    chunks ??= readLines(path, size, onDamaged, at.place)[Symbol.asyncIterator]()
    while (!isEnded) {
      const found = await chunks.next()
      isEnded = found.done === true
      lines = found.done === true ? undefined : found.value[Symbol.iterator]()
      isReady = look()
      if (!isReady && !isEnded) continue
      if (ahead.length > 0) at.key = isReady ? last : afterAll(last)
      isReady = ahead.length > 0
      return isReady
    }
    return false
  }
  const close = async () => chunks?.return?.()
  return {
    ...{ path, isFirst },
    get key() {
      return at.key
    },
    head: () => (isReady ? ahead[0] : undefined),
    ...{ next, fill, close, at },
  }
}

const addTo = (sets: Map<string, Set<string>>, name: string, value: string): void =>
  void sets.set(name, (sets.get(name) ?? new Set()).add(value))

/** Whether a record of one file comes before one of another file. */
const isBefore = ({ parallel }: Merge, one: KeyIn, other: KeyIn): boolean => {
  const [a, b] = [one.key.ordinal, other.key.ordinal]
  if (a !== undefined && b !== undefined) {
    if (a === b) {
      addTo(parallel, one.path, other.path)
      addTo(parallel, other.path, one.path)
    }
    if (parallel.get(one.path)?.has(other.path) !== true) return a < b
  }
  return one.key.time < other.key.time
}

/** Whether a record was in another file before. */
const isCopy = ({ seen, files }: Merge, { idOf }: Sequence, path: string, { json, text }: ObjectLine): boolean => {
  const id = idOf?.(json)
  const name = id === undefined ? text : `id ${id}`
  if (!files.includes(path)) files.push(path)
  const file = files.indexOf(path)
  const known = seen.get(name)
  if (known === undefined) seen.set(name, file)
  return known !== undefined && known !== file
}

/**
 * A line with its number in the session: a file that goes on alone keeps the numbers of its lines; after lines of another one they follow those.
 * Undefined for a copy.
 */
const numbered = (merge: Merge, sequence: Sequence, reader: Reader): ObjectLine | undefined => {
  const { path } = reader
  const line = reader.head()!
  if (isCopy(merge, sequence, path, line)) return undefined
  const ordinal = sequence.continues?.(path) === true ? sequence.ordinalOf?.(line.json) : undefined
  if (merge.lastFile !== path || ordinal !== undefined) {
    const own = merge.lastFile === undefined ? line.number : 0
    reader.at.shift = Math.max(merge.last + 1, ordinal === undefined ? own : ordinal + 1) - line.number
    merge.lastFile = path
  }
  merge.last = line.number + reader.at.shift
  return { ...line, number: merge.last, ...(reader.isFirst ? {} : { path }) }
}

/** The lines of a file until one of another file comes first, or the chunk ends. */
function* run(merge: Merge, sequence: Sequence, reader: Reader, others: readonly Reader[]): Generator<ObjectLine> {
  do {
    const line = numbered(merge, sequence, reader)
    if (line) yield line
  } while (reader.next() && !others.some((other) => isBefore(merge, other, reader)))
}

/** The file with the first record; of several the one that was read last. */
const firstOf = (merge: Merge, readers: readonly Reader[]): Reader => {
  const started = readers.find(({ path }) => path === merge.lastFile) ?? readers[0]!
  return readers.reduce((first, other) => (isBefore(merge, other, first) ? other : first), started)
}

/**
 * The lines of several files (`inOrder`) in the order in which they were written, each record once. Those of a file keep their order. `merge` says how
 * far they were read before, and moves. Only those files are open at the same time of which each has records before the end of the other one.
 */
export const mergedLines = (readLines: ReadLines, sequence: Sequence) =>
  async function* (parts: readonly Begun[], onDamaged: OnDamaged, merge: Merge): AsyncGenerator<Iterable<ObjectLine>> {
    const before = [...merge.reached].map(([path, { key }]): KeyIn => ({ path, key }))
    const readers: Reader[] = []
    for (const [index, part] of parts.entries()) {
      const at = merge.reached.get(part.path) ?? { place: beginning(), key: part.begins, shift: 0 }
      merge.reached.set(part.path, at)
      const damaged: OnDamaged = (line, lost) => onDamaged(line, lost, part.path)
      readers.push(newReader(readLines, sequence, { ...part, isFirst: index === 0 }, at, damaged))
    }
    const isLate = (reader: Reader) =>
      before.some((reached) => reached.path !== reader.path && !isBefore(merge, reached, reader))
    try {
      while (readers.length > 0) {
        const reader = firstOf(merge, readers)
        if (!reader.head()) {
          const isEnded = !(await reader.fill())
          if (isEnded) readers.splice(readers.indexOf(reader), 1)
          else if (isLate(reader)) merge.isOutOfOrder = true
          continue
        }
        const others = readers.filter((other) => other !== reader)
        yield run(merge, sequence, reader, others)
      }
    } finally {
      await Promise.all(readers.map(({ close }) => close()))
    }
  }
