import type { Mark } from './found.ts'

/** A piece of a text around a hit; `marks` are UTF-16 offsets into the piece. */
type Snippet = { readonly text: string; readonly marks: readonly Mark[] }

/** The length of a snippet, in UTF-16 code units. */
const LENGTH = 240
/** The most code units that are shown before the first mark. */
const BEFORE = 60

/** Whether the second half of a surrogate pair is at an offset, so that a cut there would divide a character. */
const isLowSurrogate = (text: string, at: number) => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000
}

/** Where a snippet begins: not inside a character, and at the beginning of a word if there is one nearby. */
const startOf = (text: string, first: number): number => {
  const start = Math.max(0, first - BEFORE)
  if (start === 0) return 0
  const space = text.slice(start, first).search(/\s/u)
  const at = space >= 0 && space < BEFORE / 2 ? start + space + 1 : start
  return isLowSurrogate(text, at) ? at + 1 : at
}

/** The index of the mark to begin with: the one whose snippet has the most marks. */
const bestFirstMark = (marks: readonly Mark[]): number => {
  let [found, most] = [0, 0]
  for (const [i, [start]] of marks.entries()) {
    const count = marks.slice(i).filter(([, end]) => end <= start + LENGTH - BEFORE).length
    if (count > most) [found, most] = [i, count]
  }
  return found
}

/** The snippet of a text that has the most marks. A mark that is longer than the snippet is cut. */
export const snippetOf = (text: string, marks: readonly Mark[]): Snippet => {
  const first = marks[bestFirstMark(marks)]?.[0] ?? 0
  const start = startOf(text, first)
  let end = Math.min(text.length, start + LENGTH)
  if (end < text.length && isLowSurrogate(text, end)) end -= 1
  const inside = marks.filter(([from]) => from >= start && from < end)
  return {
    text: text.slice(start, end),
    marks: inside.map(([from, to]): Mark => [from - start, Math.min(to, end) - start]),
  }
}
