import { SEQUENCE } from '../../base/terminal-sequences.ts'
import { graphemeBefore } from '../../base/texts.ts'
import { type Fence, fenceAfter } from '../../transcript/prose-pieces.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import type { Mark } from './found.ts'
import { type Span, proseMarks } from './prose-marks.ts'

/** A part of a text that is read in one way: prose, with marks of Markdown or as it was typed, or code, of which line ends and indentation count. */
type Region = { readonly is: 'markdown' | 'typed' | 'code'; readonly start: number; readonly end: number }

const wayOf: Readonly<Record<SearchedText['place'], Region['is']>> = {
  trace: 'typed',
  prompt: 'typed',
  answer: 'markdown',
  thinking: 'markdown',
  system: 'markdown',
  call: 'code',
  output: 'code',
}

/** Lines that may open or close a fence. */
const FENCES = /^ {0,3}(?:```|~~~).*\n?/gm

/** The region of a text in which an index lies: outside of fences, or in one. */
const regionAt = ({ text, place }: SearchedText, at: number): Region => {
  const is = wayOf[place]
  let fence: Fence | undefined
  let start = 0
  for (const { 0: line, index } of is === 'code' || place === 'trace' ? [] : text.matchAll(FENCES)) {
    const after = fenceAfter(line, fence)
    if ((after === undefined) === (fence === undefined)) continue
    if (index > at) return { is: fence ? 'code' : is, start, end: index }
    start = Math.min(index + line.length, at) // what was found may stand beside the fence
    fence = after
  }
  return { is: fence ? 'code' : is, start, end: text.length }
}

const LINE_END = /\r\n?|\n/g
/** The most lines of code that are shown. */
const MOST_LINES = 3
/** The line before that of the mark is shown if no more code units than these are shown before the mark. */
const MOST_BEFORE = 100

/** The lines of code around a mark at an index: its own, the one before it if there is room, and those behind it. */
const linesAround = (text: string, at: number, [start, end]: Span): readonly Span[] => {
  const lines: Span[] = []
  let from = start
  for (const { 0: lineEnd, index } of text.slice(start, end).matchAll(LINE_END)) {
    lines.push([from, start + index])
    from = start + index + lineEnd.length
  }
  lines.push([from, end])
  const own = lines.findLastIndex(([first]) => first <= at)
  const before = lines[own - 1]
  const isNear = before && at - before[0] <= MOST_BEFORE && text.slice(...before).trim() !== ''
  return lines.slice(isNear ? own - 1 : own).slice(0, MOST_LINES)
}

/** The white space with which all of these lines begin. */
const indentation = (text: string, lines: readonly Span[]): Span[] => {
  const widths = lines.map((line) => text.slice(...line).search(/\S/))
  const least = Math.min(...widths.filter((width) => width >= 0))
  return lines.flatMap(([start], i): Span[] => (widths[i]! < 0 || least === 0 ? [] : [[start, start + least]]))
}

/** What colours a piece of a text on a terminal. */
const sequencesIn = (text: string, [start, end]: Span): Span[] =>
  Array.from(text.slice(start, end).matchAll(SEQUENCE), ({ 0: one, index }): Span => [
    start + index,
    start + index + one.length,
  ])

const movedBy = (offset: number, spans: readonly Span[]): Span[] =>
  spans.map(([start, end]) => [offset + start, offset + end])

/** For each code unit of a piece of a text, from `start` on: 1 if it is in one of the spans. */
const flagsOf = (spans: readonly Span[], [start, end]: Span): Uint8Array => {
  const flags = new Uint8Array(end - start)
  for (const [from, to] of spans) flags.fill(1, Math.max(0, from - start), Math.max(0, to - start))
  return flags
}

/** A piece of a text without what is hidden, and where in it an offset of the text is; its length for one behind it. */
type Written = { readonly text: string; readonly indexOf: (offset: number) => number }

/** White space that prose is written without. */
const MORE_THAN_SPACES = /^\s|\s\s|[^\S ]/

const isWhite = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || (code >= 0xa0 && /\s/.test(text[at]!))
}

/** Writes a piece of a text without what is hidden. In prose white space is one space, but for that in marks. */
const written = (
  text: string,
  piece: Span,
  hidden: readonly Span[],
  marks: readonly Mark[],
  isCode: boolean,
): Written => {
  const [start, end] = piece
  const whole = text.slice(start, end)
  if (hidden.length === 0 && (isCode || !MORE_THAN_SPACES.test(whole)))
    return { text: whole, indexOf: (offset) => Math.min(Math.max(offset - start, 0), whole.length) } // for speed
  const [isHidden, isMarked] = [flagsOf(hidden, piece), flagsOf(marks, piece)]
  let shown = ''
  /** Where each code unit of it stands in the text. */
  const places: number[] = []
  let isBehindSpace = !isCode
  for (let at = start; at < end; at += 1) {
    if (isHidden[at - start] === 1) continue
    const isSpace = !isCode && isMarked[at - start] === 0 && isWhite(text, at)
    if (isSpace && isBehindSpace) continue
    isBehindSpace = isSpace
    shown += isSpace ? ' ' : text[at]!
    places.push(at)
  }
  const indexOf = (offset: number) => {
    const index = places.findIndex((at) => at >= offset)
    return index < 0 ? places.length : index
  }
  return { text: shown, indexOf }
}

/** Whether a text goes on before a piece, and behind it; of code: on the same line. */
const goesOn = (
  text: string,
  [start, end]: Span,
  { is, ...region }: Region,
): readonly [before: boolean, behind: boolean] => {
  if (is !== 'code') return [/\S/.test(text.slice(0, start)), /\S/.test(text.slice(end))]
  const isInLine = (at: number) => !/[\r\n]/.test(text[at]!)
  return [start > region.start && isInLine(start - 1), end < region.end && isInLine(end)]
}

/** What is shown of a piece of a text, before it is cut. */
export type ShownText = {
  readonly text: string
  readonly marks: readonly Mark[]
  /** Where the mark begins around which the piece was taken. */
  readonly first: number
  readonly isCode: boolean
  readonly goesOn: ReturnType<typeof goesOn>
}

/** How much of a text is looked at before the first mark, and from it on: marks of Markdown, which are not shown, make room for more. */
const BEFORE = 160
const BEHIND = 400

/**
 * A piece of a text as people read it, without colours of a terminal: of prose one line, without marks of Markdown, of code up to three. What was found is shown as it is, with all that it
 * touches: of a link whose target has the word, all of the link.
 * @param first where the first of the marks begins that are to be seen
 */
export const shownAround = (searched: SearchedText, marks: readonly Mark[], first: number): ShownText => {
  const { text } = searched
  const region = regionAt(searched, first)
  const isCode = region.is === 'code'
  const window: Span = [
    graphemeBefore(text, Math.max(region.start, first - BEFORE)),
    graphemeBefore(text, Math.min(region.end, first + BEHIND)),
  ]
  const lines = isCode ? linesAround(text, first, window) : []
  const piece: Span = isCode ? [lines[0]![0], lines.at(-1)![1]] : window
  const leftOut = {
    code: () => indentation(text, lines).map((span) => [span]),
    markdown: () => proseMarks(text.slice(...piece)).map((together) => movedBy(piece[0], together)),
    typed: () => [],
  }[region.is]()
  const near = marks.filter(([start, end]) => start < piece[1] && piece[0] < end)
  const touches = ([from, to]: Span) => near.some(([start, end]) => start < to && from < end)
  const hidden = [...sequencesIn(text, piece), ...leftOut.filter((together) => !together.some(touches)).flat()]
  const { text: shown, indexOf } = written(text, piece, hidden, near, isCode)
  return {
    text: shown,
    marks: near.map(([start, end]): Mark => [indexOf(start), indexOf(end)]),
    first: indexOf(first),
    isCode,
    goesOn: goesOn(text, piece, region),
  }
}
