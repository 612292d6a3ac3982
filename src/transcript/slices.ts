import { countText } from '../base/for-people.ts'

/** How many characters are processed at a time, so that the event loop is never blocked for long; each may be shown as eight. */
const SLICE = 8 * 1024

/** The first index from `at` on at which a text can be cut: not between the halves of a character, and not between `\r` and `\n`. */
export const cutAt = (text: string, at: number): number => {
  const isWithinCharacter = (text.codePointAt(at - 1) ?? 0) > 0xffff
  return isWithinCharacter || text.slice(at - 1, at + 1) === '\r\n' ? at + 1 : at
}

/** Cuts a text, but never inside a character, or between `\r` and `\n`. */
export function* slices(text: string, size = SLICE): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    const end = cutAt(text, Math.min(start + size, text.length))
    yield text.slice(start, end)
    start = end
  }
}

const MOST_WORD = 2_048

/** The same, and not inside a word of up to 2,048 characters either, such as an address. */
export function* wordSlices(text: string): Generator<string, void> {
  for (let start = 0; start < text.length;) {
    const most = cutAt(text, Math.min(start + SLICE, text.length))
    let end = most
    while (most < text.length && end > most - MOST_WORD && !/\s/.test(text[end - 1]!)) end -= 1
    if (end === most - MOST_WORD) end = most
    yield text.slice(start, end)
    start = end
  }
}

const MOST_COUNTED = 10_000

/** The number of lines of a text; of more than `MOST_COUNTED`, one more than that. */
export const countLinesUpToMost = (text: string): number => {
  let lines = text === '' ? 0 : 1
  for (
    let start = text.indexOf('\n');
    start >= 0 && start < text.length - 1 && lines <= MOST_COUNTED;
    start = text.indexOf('\n', start + 1)
  )
    lines += 1
  return lines
}

export const areMore = (lines: number): boolean => lines > MOST_COUNTED

/** A number of lines from `countLinesUpToMost` in words, such as `312 lines`. */
export const manyLines = (lines: number): string => {
  if (areMore(lines)) return `more than ${MOST_COUNTED.toLocaleString('en')} lines`
  return `${countText(lines)} ${lines === 1 ? 'line' : 'lines'}`
}

/** The number of lines of a text, in words: `312 lines`; empty for a single line. */
export const linesText = (text: string): string => {
  const lines = countLinesUpToMost(text)
  if (lines === 0) return 'empty'
  return lines === 1 ? '' : manyLines(lines)
}
