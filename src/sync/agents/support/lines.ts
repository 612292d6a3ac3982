import { constants } from 'node:buffer'
import { chunksOf } from './chunks.ts'
import { type Json, parseObject } from './json.ts'

/**
 * One line of a file; `bytes` is undefined for one longer than a string can be, and may be written over once the next line is asked
 * for. `ended` is whether a newline follows.
 */
type Line = { readonly bytes: Buffer | undefined; readonly ended: boolean }

/**
 * A place between the lines of a file: the number of the next line, from 1, and the bytes before it. A reading begins at it, and
 * moves it behind each line that ends, once the next one is asked for.
 */
export type Place = { line: number; offset: number }

export const beginning = (): Place => ({ line: 1, offset: 0 })

/**
 * A line that holds one JSON object, with the text it was parsed from. `number` counts from 1 and includes blank lines; `offset` is
 * how many bytes are before it. `ended` is whether a newline follows.
 */
export type ObjectLine = {
  readonly number: number
  readonly offset: number
  readonly ended: boolean
  readonly text: string
  readonly json: Json
}

/** The bytes of a line that has not ended yet. */
const newUnfinished = () => {
  let parts: Buffer[] = []
  let length = 0
  return {
    add: (part: Buffer) => {
      length += part.length
      if (length > constants.MAX_STRING_LENGTH) parts = []
      else if (part.length > 0) parts.push(part)
    },
    /** All bytes that were added; undefined for too many. */
    take: (): Buffer | undefined => {
      const bytes =
        length > constants.MAX_STRING_LENGTH ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)
      parts = []
      length = 0
      return bytes
    },
    length: () => length,
  }
}

/**
 * Splits chunks into lines. Not `node:readline`, which also splits at U+2028 and lone CRs: both may occur inside JSON strings. Not
 * an asynchronous generator, which would wait several times for each line.
 */
const newSplitter = (at: Place) => {
  const unfinished = newUnfinished()
  return {
    /** The lines that end in a chunk. */
    *linesOf(chunk: Buffer): Generator<Line> {
      let from = 0
      for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
        unfinished.add(chunk.subarray(from, to))
        const length = unfinished.length()
        yield { bytes: unfinished.take(), ended: true }
        at.line++
        at.offset += length + 1
        from = to + 1
      }
      unfinished.add(Buffer.from(chunk.subarray(from))) // the next chunk may have the same memory
    },
    /** What follows the last end of a line, if anything does. */
    *rest(): Generator<Line> {
      if (unfinished.length() > 0) yield { bytes: unfinished.take(), ended: false }
    },
  }
}

/** The lines of text in the first `size` bytes of a file, without their ends. One that is longer than a string can be is left out. */
export async function* textLines(path: string, size: number): AsyncGenerator<string> {
  const splitter = newSplitter(beginning())
  const textsOf = function* (lines: Iterable<Line>) {
    for (const { bytes } of lines) if (bytes) yield bytes.toString('utf8').replace(/\r$/, '')
  }
  for await (const chunk of chunksOf(path, size, () => {})) yield* textsOf(splitter.linesOf(chunk))
  yield* textsOf(splitter.rest())
}

/** The objects in some lines, of which the first one to be given is at `at`. */
function* objectsIn(lines: Iterable<Line>, onMalformed: (line: number) => void, at: Place): Generator<ObjectLine> {
  for (const { bytes, ended } of lines) {
    const text = bytes?.toString('utf8').trim() // also removes a byte order mark
    if (text === '') continue
    const json = text === undefined ? undefined : parseObject(text)
    if (json && text) yield { number: at.line, offset: at.offset, ended, text, json }
    else if (ended) onMalformed(at.line)
  }
}

/**
 * The JSON objects in the first `size` bytes of a JSON Lines file, which may be compressed (`.zst`), from a place on. Blank lines
 * are skipped. `onMalformed` is called for a line that is not one object, except for a last line without a newline, which is
 * still being written, and for the line in which compressed data cannot be read on. `onBytes` is given all bytes of the content.
 */
export async function* objectLines(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
  at = beginning(),
  onBytes: (bytes: Buffer) => void = () => {},
): AsyncGenerator<ObjectLine> {
  let damaged = false
  const chunks = chunksOf(path, size, () => (damaged = true), at.offset)
  const splitter = newSplitter(at)
  // Loops, because `yield*` in an asynchronous generator waits once more for each line.
  for await (const chunk of chunks) {
    onBytes(chunk)
    for (const line of objectsIn(splitter.linesOf(chunk), onMalformed, at)) yield line
  }
  for (const line of objectsIn(splitter.rest(), onMalformed, at)) yield line
  if (damaged) onMalformed(at.line)
}
