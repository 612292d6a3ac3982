import type { Mark } from './found.ts'

/** A piece of a text with what was found in it; `marks` are UTF-16 offsets into it. */
export type Snippet = { readonly text: string; readonly marks: readonly Mark[] }

/** In UTF-16 code units. */
const LENGTH = 240
/** So much is shown before what was found, at most. */
const BEFORE = 60

const isLow = (text: string, at: number) => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000
}

/** Where a piece begins: between characters, and at a word where one begins near by. */
const startOf = (text: string, first: number): number => {
  const start = Math.max(0, first - BEFORE)
  if (start === 0) return 0
  const space = text.slice(start, first).search(/\s/u)
  const at = space >= 0 && space < BEFORE / 2 ? start + space + 1 : start
  return isLow(text, at) ? at + 1 : at
}

/** How many marks are within a piece that begins before each, for the best place. */
const best = (marks: readonly Mark[]): number => {
  let [found, most] = [0, 0]
  for (const [i, [start]] of marks.entries()) {
    const count = marks.slice(i).filter(([, end]) => end <= start + LENGTH - BEFORE).length
    if (count > most) [found, most] = [i, count]
  }
  return found
}

/** The piece of a text with most of what was found in it. A mark that is longer than the piece is cut. */
export const snippetOf = (text: string, marks: readonly Mark[]): Snippet => {
  const first = marks[best(marks)]?.[0] ?? 0
  const start = startOf(text, first)
  let end = Math.min(text.length, start + LENGTH)
  if (end < text.length && isLow(text, end)) end -= 1
  const inside = marks.filter(([from]) => from >= start && from < end)
  return {
    text: text.slice(start, end),
    marks: inside.map(([from, to]): Mark => [from - start, Math.min(to, end) - start]),
  }
}
