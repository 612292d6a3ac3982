import { constants } from 'node:buffer'
import { chunksOf } from './chunks.ts'
import { type Json, parseObject } from './json.ts'

/** One line of a file; `bytes` is undefined for one longer than a string can be. `ended` is whether a newline follows. */
type Line = { readonly number: number; readonly bytes: Buffer | undefined; readonly ended: boolean }

/** A line that holds one JSON object, with the text it was parsed from. `number` counts from 1 and includes blank lines. */
export type ObjectLine = { readonly number: number; readonly text: string; readonly json: Json }

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
      const bytes = length > constants.MAX_STRING_LENGTH ? undefined : Buffer.concat(parts)
      parts = []
      length = 0
      return bytes
    },
    isEmpty: () => length === 0,
  }
}

// Not `node:readline`, which also splits at U+2028 and lone CRs: both may occur inside JSON strings.
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 1
  const unfinished = newUnfinished()
  for await (const chunk of chunks) {
    let from = 0
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      unfinished.add(chunk.subarray(from, to))
      yield { number: number++, bytes: unfinished.take(), ended: true }
      from = to + 1
    }
    unfinished.add(chunk.subarray(from))
  }
  if (!unfinished.isEmpty()) yield { number, bytes: unfinished.take(), ended: false }
}

/** The lines of text in the first `size` bytes of a file, without their ends. One that is longer than a string can be is left out. */
export async function* textLines(path: string, size: number): AsyncGenerator<string> {
  for await (const { bytes } of linesOf(chunksOf(path, size, () => {})))
    if (bytes) yield bytes.toString('utf8').replace(/\r$/, '')
}

/**
 * The JSON objects in the first `size` bytes of a JSON Lines file, which may be compressed (`.zst`). Blank lines are skipped.
 * `onMalformed` is called for a line that is not one object, except for a last line without a newline, which is still being
 * written, and for the line in which compressed data cannot be read on.
 */
export async function* objectLines(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
): AsyncGenerator<ObjectLine> {
  let damaged = false
  let next = 1
  for await (const { number, bytes, ended } of linesOf(chunksOf(path, size, () => (damaged = true)))) {
    if (ended) next = number + 1
    const text = bytes?.toString('utf8').trim() // also removes a byte order mark
    if (text === '') continue
    const json = text === undefined ? undefined : parseObject(text)
    if (json && text) yield { number, text, json }
    else if (ended) onMalformed(number)
  }
  if (damaged) onMalformed(next)
}
