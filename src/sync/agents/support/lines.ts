import { chunksOf } from './chunks.ts'
import { type Json, parseObject } from './json.ts'

/**
 * One line of a file; `bytes` is undefined for one that is too long, and may be written over once the next line is asked for. `size` is
 * how many bytes it has, `ended` whether a newline follows.
 */
type Line = { readonly bytes: Buffer | undefined; readonly size: number; readonly ended: boolean }

/**
 * A place between the lines of a file: the number of the next line, from 1, and the bytes before it. A reading begins at it, and
 * moves it behind each line that ends, once the next one is asked for.
 */
export type Place = { line: number; offset: number }

export const beginning = (): Place => ({ line: 1, offset: 0 })

/**
 * A line that holds one JSON object, with the text it was parsed from. `number` counts from 1 and includes blank lines; `offset` is
 * how many bytes are before it, `size` how many it has. `ended` is whether a newline follows.
 */
export type ObjectLine = ParsedLine & {
  readonly number: number
  readonly offset: number
  readonly size: number
  readonly ended: boolean
}

export type ParsedLine = { readonly text: string; readonly json: Json }

/** How the lines of an agent are read. */
export type LineForm = {
  /** What a line holds; undefined for one that is not one JSON object. */
  readonly parse: (bytes: Buffer) => ParsedLine | undefined
  /**
   * How many of the first bytes of a line are all that `parse` needs, besides its end; undefined where it may need all. Asked of lines
   * that are too long to be kept in memory lightly. None of `needed` stands in what is left out.
   */
  readonly enough?: (beginning: Buffer) => number | undefined
  readonly needed?: readonly Buffer[]
}

const wholeLines: LineForm = {
  parse: (bytes) => {
    const text = bytes.toString('utf8').trim() // also removes a byte order mark
    const json = parseObject(text)
    return json && { text, json }
  },
}

/** What a longer line needs is looked for once it has so many bytes, and again whenever these have doubled. */
const LONG = 1 << 20

/**
 * A line of which more is needed is left out: no model takes a request as long, and the service no message of half of it. To read one
 * costs six times its length in memory.
 */
const MAX_LENGTH = 32 << 20

/** So many bytes at the end of a long line are kept. */
const END = 4_096

/** Takes the place of what was left out of a line: it occurs in no JSON, so that nobody takes the rest for all of it. */
const LEFT_OUT = Buffer.from([0])

/** What follows the needed bytes of a long line: only its end is kept. `end` is undefined where something is needed after all. */
const newRest = (needed: readonly Buffer[]) => {
  let kept: Buffer | undefined = Buffer.alloc(0)
  return {
    add: (part: Buffer): void => {
      // With the end of the part before: what is needed may begin there.
      const both: Buffer | undefined = kept && Buffer.concat([kept, part])
      kept = both && !needed.some((each) => both.includes(each)) ? Buffer.from(both.subarray(-END)) : undefined
    },
    end: (): Buffer | undefined => kept,
  }
}

/** The bytes of a line that has not ended yet, as far as they are needed. */
const newUnfinished = ({ enough, needed = [] }: LineForm) => {
  let parts: Buffer[] = []
  let [length, looked, size] = [0, LONG, 0]
  let rest: ReturnType<typeof newRest> | undefined

  /** Goes on without what follows the needed bytes, where it is known what these are. */
  const shorten = () => {
    if (!enough || length < looked) return
    looked = length * 2
    const all = Buffer.concat(parts)
    parts = [all]
    const count = enough(all)
    if (count === undefined) return
    rest = newRest(needed)
    rest.add(all.subarray(count))
    parts = [Buffer.from(all.subarray(0, count)), LEFT_OUT]
  }
  const all = (): Buffer | undefined => {
    const end = rest?.end()
    if (length > MAX_LENGTH || (rest && !end)) return undefined
    return parts.length === 1 && !end ? parts[0] : Buffer.concat(end ? [...parts, end] : parts)
  }
  return {
    /** `isLast`: the line ends with this part. Others are copied, as the next one may have the same memory. */
    add: (part: Buffer, isLast: boolean) => {
      size += part.length
      if (rest) return rest.add(part)
      length += part.length
      if (length > MAX_LENGTH) parts = []
      else if (part.length > 0) parts.push(isLast ? part : Buffer.from(part))
      if (length <= MAX_LENGTH) shorten()
    },
    /** What was added; undefined for too much. */
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
 * Splits chunks into lines. Not `node:readline`, which also splits at U+2028 and lone CRs: both may occur inside JSON strings. Not
 * an asynchronous generator, which would wait several times for each line.
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
    /** What follows the last end of a line, if anything does. */
    *rest(): Generator<Line> {
      const size = unfinished.size()
      if (size > 0) yield { bytes: unfinished.take(), size, ended: false }
    },
  }
}

/** The lines of text in the first `size` bytes of a file, without their ends. One that is longer than 32 MiB is left out. */
export async function* textLines(path: string, size: number): AsyncGenerator<string> {
  const splitter = newSplitter(beginning(), wholeLines)
  const textsOf = function* (lines: Iterable<Line>) {
    for (const { bytes } of lines) if (bytes) yield bytes.toString('utf8').replace(/\r$/, '')
  }
  for await (const chunk of chunksOf(path, size, () => {})) yield* textsOf(splitter.linesOf(chunk))
  yield* textsOf(splitter.rest())
}

/** The objects in some lines, of which the first one to be given is at `at`. */
function* objectsIn(
  lines: Iterable<Line>,
  { parse }: LineForm,
  onMalformed: (line: number) => void,
  at: Place,
): Generator<ObjectLine> {
  for (const { bytes, size, ended } of lines) {
    const parsed = bytes && parse(bytes)
    if (parsed) yield { number: at.line, offset: at.offset, size, ended, ...parsed }
    else if (ended && bytes?.toString('utf8').trim() !== '') onMalformed(at.line)
  }
}

/**
 * The JSON objects in the first `size` bytes of a JSON Lines file, which may be compressed (`.zst`), from a place on. Blank lines
 * are skipped. `onMalformed` is called for a line that is not one object, or of which more than 32 MiB are needed, except for a last
 * line without a newline, which is still being written, and for the line in which compressed data cannot be read on. `onBytes` is
 * given all bytes of the content.
 */
export const linesOf = (form: LineForm) =>
  async function* (
    path: string,
    size: number,
    onMalformed: (line: number) => void,
    at = beginning(),
    onBytes: (bytes: Buffer) => void = () => {},
  ): AsyncGenerator<ObjectLine> {
    let damaged = false
    const chunks = chunksOf(path, size, () => (damaged = true), at.offset)
    const splitter = newSplitter(at, form)
    // Loops, because `yield*` in an asynchronous generator waits once more for each line.
    for await (const chunk of chunks) {
      onBytes(chunk)
      for (const line of objectsIn(splitter.linesOf(chunk), form, onMalformed, at)) yield line
    }
    for (const line of objectsIn(splitter.rest(), form, onMalformed, at)) yield line
    if (damaged) onMalformed(at.line)
  }

/** The lines of which all is needed. */
export const objectLines = linesOf(wholeLines)

/** Reads a line as a whole. */
export const { parse: parseLine } = wholeLines
