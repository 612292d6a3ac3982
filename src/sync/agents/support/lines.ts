import { constants } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { type Json, parseObject } from './json.ts'

/** One line of a file. `number` counts from 1 and includes blank lines; `ended` is whether a newline follows. */
type Line = { readonly number: number; readonly bytes: Buffer; readonly ended: boolean }

/** A line that holds one JSON object, with the text it was parsed from. */
export type ObjectLine = { readonly number: number; readonly text: string; readonly json: Json }

// Not `node:readline`, which also splits at U+2028 and lone CRs: both may occur inside JSON strings.
async function* linesOf(path: string, size: number): AsyncGenerator<Line> {
  if (size === 0) return
  let number = 1
  let rest: Buffer[] = []
  for await (const chunk of createReadStream(path, {
    end: size - 1,
    highWaterMark: 1 << 18,
  }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let to = chunk.indexOf(10); to !== -1; to = chunk.indexOf(10, from)) {
      yield { number: number++, bytes: Buffer.concat([...rest, chunk.subarray(from, to)]), ended: true }
      rest = []
      from = to + 1
    }
    if (from < chunk.length) rest.push(chunk.subarray(from))
  }
  if (rest.length > 0) yield { number, bytes: Buffer.concat(rest), ended: false }
}

// `trim` also removes a byte order mark.
const decode = (bytes: Buffer): string | undefined => {
  try {
    return bytes.toString('utf8').trim()
  } catch {
    return undefined // longer than a string can be
  }
}

/** A line of text without its end. `ended` is whether a newline follows. */
type TextLine = { readonly text: string; readonly ended: boolean }

/** The lines in the first `size` bytes of a text file. One that is longer than a string can be is left out. */
export async function* textLines(path: string, size: number): AsyncGenerator<TextLine> {
  for await (const { bytes, ended } of linesOf(path, size)) {
    if (bytes.length < constants.MAX_STRING_LENGTH) yield { text: bytes.toString('utf8').replace(/\r$/, ''), ended }
  }
}

/**
 * The JSON objects in the first `size` bytes of a JSON Lines file. Blank lines are skipped. `onMalformed` is called for a line
 * that is not one object, except for a last line without a newline, which is still being written.
 */
export async function* objectLines(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
): AsyncGenerator<ObjectLine> {
  for await (const { number, bytes, ended } of linesOf(path, size)) {
    const text = decode(bytes)
    if (text === '') continue
    const json = text === undefined ? undefined : parseObject(text)
    if (json && text) yield { number, text, json }
    else if (ended) onMalformed(number)
  }
}
