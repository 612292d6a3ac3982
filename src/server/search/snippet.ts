import { graphemeBefore } from '../../base/texts.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import type { Mark } from './found.ts'
import type { Span } from './prose-marks.ts'
import { type ShownText, shownAround } from './shown-text.ts'

/** What is shown of a text around a hit; `marks` are UTF-16 offsets into it. */
type Snippet = { readonly text: string; readonly marks: readonly Mark[] }

/** The most UTF-16 code units of a snippet. */
const LENGTH = 240
/** The most code units before the first mark; in code, whose line is shown from its beginning if it can be. */
const BEFORE = 60
const BEFORE_IN_CODE = 100
const ELLIPSIS = '…'
/** Behind a full stop the ellipsis stands by itself. */
const SPACED_ELLIPSIS = ` ${ELLIPSIS}`

/** The index of the mark to begin with: the one whose snippet has the most marks. */
const bestFirstMark = (marks: readonly Mark[]): number => {
  let [found, most] = [0, 0]
  for (const [i, [start]] of marks.entries()) {
    const count = marks.slice(i).filter(([, end]) => end <= start + LENGTH - BEFORE).length
    if (count > most) [found, most] = [i, count]
  }
  return found
}

const words = new Intl.Segmenter('und', { granularity: 'word' })
/** A text is cut at white space that is not farther away than this, else between words as Unicode divides them, else between graphemes. */
const NEAR = 30

const wordAround = (text: string, at: number): Span => {
  const from = Math.max(0, at - NEAR)
  const found = words.segment(text.slice(from, at + NEAR)).containing(at - from)
  return found ? [from + found.index, from + found.index + found.segment.length] : [at, at]
}

/** Where a snippet that may end at an index ends, behind a word. */
const endBefore = (text: string, at: number): number => {
  for (let space = at; space > at - NEAR; space -= 1)
    if (/\s/.test(text[space] ?? '')) return graphemeBefore(text, space)
  const [start] = wordAround(text, at)
  return graphemeBefore(text, start > at - NEAR ? start : at)
}

const graphemes = new Intl.Segmenter('und')

/** The last index up to `at` between two graphemes, the beginning of the text included. */
const betweenGraphemes = (text: string, at: number): number => {
  const found = graphemeBefore(text, at)
  if (found < at || text.charCodeAt(at) < 0x80) return found
  const first = graphemes.segment(text.slice(0, at + 1)).containing(0)
  return first && first.segment.length > at ? 0 : found
}

/** Where a snippet that may begin at an index begins, in front of a word, and not behind `most`. */
const startAfter = (text: string, at: number, most: number): number => {
  for (let space = at - 1; space < Math.min(at + NEAR, most); space += 1)
    if (/\s/.test(text[space] ?? '')) return betweenGraphemes(text, space + 1)
  const [start, end] = wordAround(text, at)
  return betweenGraphemes(text, start < at && end < at + NEAR && end <= most ? end : at)
}

/** Cuts a text between words, around its first mark, with an ellipsis on each side where it goes on. No mark is cut but the first, if it is too long. */
const cut = ({ text, marks, first, isCode, goesOn }: ShownText): Snippet => {
  const markAround = (at: number) => marks.find(([from, to]) => from < at && at < to)
  const earliest = first <= (isCode ? BEFORE_IN_CODE : BEFORE) ? 0 : startAfter(text, first - BEFORE, first)
  const start = markAround(earliest)?.[1] ?? earliest
  const prefix = start > 0 || goesOn[0] ? ELLIPSIS : ''
  const room = LENGTH - prefix.length
  const isWhole = text.length - start + (goesOn[1] ? SPACED_ELLIPSIS.length : 0) <= room
  const latest = isWhole ? text.length : endBefore(text, start + room - SPACED_ELLIPSIS.length)
  const [divided = first] = markAround(latest) ?? []
  let end = divided > first ? divided : latest
  const inside = marks.filter(([from]) => from >= start && from < end)
  const least = Math.min(end, inside.at(-1)?.[1] ?? start)
  while (end > least && /\s/.test(text[end - 1]!)) end -= 1
  const ellipsis = text[end - 1] === '.' ? SPACED_ELLIPSIS : ELLIPSIS
  const suffix = goesOn[1] || /\S/.test(text.slice(end)) ? ellipsis : ''
  const moved = prefix.length - start
  return {
    text: prefix + text.slice(start, end) + suffix,
    marks: inside.map(([from, to]): Mark => [from + moved, Math.min(to, end) + moved]),
  }
}

/** The piece of a text that has the most marks, as people read it, of at most 240 code units. */
export const snippetOf = (searched: SearchedText, marks: readonly Mark[]): Snippet =>
  cut(shownAround(searched, marks, marks[bestFirstMark(marks)]?.[0] ?? 0))
