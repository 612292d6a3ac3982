import { chunksOf } from './chunks.ts'
import { recordsIn } from './damaged-lines.ts'
import { type Json, parseObject } from './json.ts'

/**
 * One line of a file. `bytes` is undefined if the line is too long; its memory may be used again once the next line is asked for.
 * `size` is the length of the line in bytes, `ended` whether a newline follows.
 */
type Line = { readonly bytes: Buffer | undefined; readonly size: number; readonly ended: boolean }

/**
 * A place between two lines of a file: the number of the next line, from 1, and the number of bytes before it. `extra` is how many records more
 * than one there were on the lines before. A reading begins at its place, and moves it past a line with a newline once the next line is asked for.
 */
export type Place = { line: number; offset: number; extra: number }

export const beginning = (): Place => ({ line: 1, offset: 0, extra: 0 })

/** The number of the first record of the next line: that of the line, except after a damaged line that held several. */
export const numberAt = ({ line, extra }: Place): number => line + extra

/**
 * A line that holds one JSON object, with the text that it was parsed from. `number` counts from 1 and includes blank lines; each object of a damaged
 * line that holds several has its own, so that it is the line's number only in a file without such lines. `ended` says whether a newline follows.
 */
export type ObjectLine = ParsedLine & {
  readonly number: number
  readonly ended: boolean
  /** The file that it is in, in a session of several files; absent in the first one. */
  readonly path?: string
}

export type ParsedLine = { readonly text: string; readonly json: Json }

/** How the lines of an agent are read. */
export type LineForm = {
  /** The object in a line; undefined if the line is not one JSON object. */
  readonly parse: (bytes: Buffer) => ParsedLine | undefined
  /** Whether an object in a damaged line is a record of the agent, and not a part of one. */
  readonly isRecord: (json: Json) => boolean
  /**
   * How many of the first bytes of a long line `parse` needs, besides the end of the line; undefined if it may need all. Bytes that
   * contain something else that it needs (`isNeeded`) are not left out.
   */
  readonly enough?: (beginning: Buffer) => number | undefined
  readonly isNeeded?: (bytes: Buffer) => boolean
}

/** The text of a line, without spaces around it, and without a byte order mark. */
const textOfLine = (bytes: Buffer): string => bytes.toString('utf8').trim()

/** Parses a line as a whole. */
export const parseLine = (bytes: Buffer): ParsedLine | undefined => {
  const text = textOfLine(bytes)
  const json = parseObject(text)
  return json && { text, json }
}

/** Lines that are parsed as a whole. */
const wholeLines = (isRecord: LineForm['isRecord']): LineForm => ({ parse: parseLine, isRecord })

/** Lines of text. */
const anyLines = wholeLines(() => false)

/** A line is shortened with `enough` once it has this many bytes, which is tried again each time that its length has doubled. */
const LONG = 1 << 20

/**
 * A longer line is left out: no model takes a request of that length, and the service no message of half of it. To read a line takes
 * six times its length in memory.
 */
const MAX_LENGTH = 32 << 20

/** How many bytes are kept of the end of a shortened line. */
const END = 4_096

/** Replaces what was left out of a line. It occurs in no JSON, so that a shortened line is not parsed as a whole one. */
const LEFT_OUT = Buffer.from([0])

/** The rest of a shortened line, of which only the end is kept. `end` is undefined if the rest contains what is needed. */
const newRest = (isNeeded: (bytes: Buffer) => boolean) => {
  let kept: Buffer | undefined = Buffer.alloc(0)
  return {
    add: (part: Buffer): void => {
      // Together with the end of the part before, in which what is needed may begin.
      const both: Buffer | undefined = kept && Buffer.concat([kept, part])
      kept = both && !isNeeded(both) ? Buffer.from(both.subarray(-END)) : undefined
    },
    end: (): Buffer | undefined => kept,
  }
}

/** Collects the bytes of a line that has not ended yet. */
const newUnfinished = ({ enough, isNeeded = () => false }: Pick<LineForm, 'enough' | 'isNeeded'>) => {
  let parts: Buffer[] = []
  let [length, looked, size] = [0, LONG, 0]
  let rest: ReturnType<typeof newRest> | undefined

  /** Drops the bytes that are not needed, where it is known which these are. */
  const shorten = () => {
    if (!enough || length < looked) return
    looked = length * 2
    const all = Buffer.concat(parts)
    parts = [all]
    const count = enough(all)
    if (count === undefined) return
    rest = newRest(isNeeded)
    rest.add(all.subarray(count))
    parts = [Buffer.from(all.subarray(0, count)), LEFT_OUT]
  }
  const all = (): Buffer | undefined => {
    const end = rest?.end()
    if (length > MAX_LENGTH || (rest && !end)) return undefined
    return parts.length === 1 && !end ? parts[0] : Buffer.concat(end ? [...parts, end] : parts)
  }
  return {
    /** `isLast`: the line ends with this part. Other parts are copied, because the next chunk may use the same memory. */
    add: (part: Buffer, isLast: boolean) => {
      size += part.length
      if (rest) return rest.add(part)
      length += part.length
      if (length > MAX_LENGTH) parts = []
      else if (part.length > 0) parts.push(isLast ? part : Buffer.from(part))
      if (length <= MAX_LENGTH) shorten()
    },
    /** The line; undefined if it is too long. */
    take: (): Buffer | undefined => {
      const bytes = all()
      parts = []
      rest = undefined
      ;[length, looked, size] = [0, LONG, 0]
      return bytes
    },
    size: () => size,
  }
}

/**
 * Splits chunks into lines. `node:readline` also splits at U+2028 and at lone CRs, both of which may occur in JSON strings. An
 * asynchronous generator would wait several times for each line.
 */
const newSplitter = (at: Place, form: LineForm) => {
  const unfinished = newUnfinished(form)
  return {
    /** The lines that end in a chunk. */
    *linesOf(chunk: Buffer): Generator<Line> {
      let from = 0
      for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
        unfinished.add(chunk.subarray(from, to), true)
        const size = unfinished.size()
        yield { bytes: unfinished.take(), size, ended: true }
        at.line++
        at.offset += size + 1
        from = to + 1
      }
      unfinished.add(chunk.subarray(from), false)
    },
    /** The bytes after the last newline, if there are any. */
    *rest(): Generator<Line> {
      const size = unfinished.size()
      if (size > 0) yield { bytes: unfinished.take(), size, ended: false }
    },
  }
}

/** The lines of text in the first `size` bytes of a file, without line ends. A line of more than 32 MiB is left out. */
export async function* textLines(path: string, size: number): AsyncGenerator<string> {
  const splitter = newSplitter(beginning(), anyLines)
  const textsOf = function* (lines: Iterable<Line>) {
    for (const { bytes } of lines) if (bytes) yield bytes.toString('utf8').replace(/\r$/, '')
  }
  for await (const chunk of chunksOf(path, size, () => {})) yield* textsOf(splitter.linesOf(chunk))
  yield* textsOf(splitter.rest())
}

/** Called with the number of a damaged line, how many of its bytes belong to no record, if that is known, and its file, if the session has several. */
export type OnDamaged = (line: number, lost?: number, path?: string) => void

/** The records in a line that is not one object, which moves `at` by those that are more than one. Blank lines have none. */
const damagedLine = (
  { bytes, size }: Line,
  isRecord: LineForm['isRecord'],
  at: Place,
  onDamaged: OnDamaged,
): readonly ObjectLine[] => {
  const text = bytes && textOfLine(bytes)
  if (text === '') return []
  const { records, lost } = text === undefined ? { records: [], lost: size } : recordsIn(text, isRecord)
  if (lost > 0) onDamaged(at.line, lost)
  const first = numberAt(at)
  at.extra += Math.max(0, records.length - 1)
  return records.map((record, index) => ({ number: first + index, ended: true, ...record }))
}

/** The objects in some lines. `at` is the place of the line that is read. */
function* objectsIn(
  lines: Iterable<Line>,
  { parse, isRecord }: LineForm,
  onDamaged: OnDamaged,
  at: Place,
): Generator<ObjectLine> {
  for (const line of lines) {
    const { bytes, ended } = line
    const parsed = bytes && parse(bytes)
    if (parsed) yield { number: numberAt(at), ended, ...parsed }
    else if (ended) yield* damagedLine(line, isRecord, at, onDamaged)
  }
}

/**
 * The JSON objects in the first `size` bytes of a JSON Lines file, which may be compressed (`.zst`), from the place `at` on, in parts
 * each of which has to be read before the next one. Blank lines are skipped. Of a line that is not one object the records in it are taken.
 * `onDamaged` is called for each line of which something is lost, also for one that is too long, and where compressed data are damaged; not for a
 * last line without a newline, which is still being written.
 */
export const linesInParts = (form: LineForm) =>
  async function* (
    path: string,
    size: number,
    onDamaged: OnDamaged,
    at = beginning(),
  ): AsyncGenerator<Iterable<ObjectLine>> {
    let isCutOff = false
    const chunks = chunksOf(path, size, () => (isCutOff = true), at.offset)
    const splitter = newSplitter(at, form)
    // Not the lines themselves: an asynchronous generator waits several times for each.
    for await (const chunk of chunks) yield objectsIn(splitter.linesOf(chunk), form, onDamaged, at)
    yield objectsIn(splitter.rest(), form, onDamaged, at)
    if (isCutOff) onDamaged(at.line)
  }

/** Reads lines that are parsed as a whole, in parts; `isRecord` as in `LineForm`. */
export const objectLinesInParts = (isRecord: LineForm['isRecord']) => linesInParts(wholeLines(isRecord))

/** Reads lines that are parsed as a whole, one by one (`linesInParts`). */
export async function* objectLines(
  path: string,
  size: number,
  isRecord: LineForm['isRecord'],
  onDamaged: OnDamaged = () => {},
): AsyncGenerator<ObjectLine> {
  for await (const part of objectLinesInParts(isRecord)(path, size, onDamaged)) yield* part
}
