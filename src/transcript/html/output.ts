import { countText } from '../../base/for-people.ts'
import { areMore, countLinesUpToMost, cutAt, manyLines, slices } from '../slices.ts'
import { beforeSequence, readTerminal } from '../terminal.ts'
import { type Html, markup, none } from './markup.ts'

/** A longer output is folded: its first and last lines are shown, and a link to the rest. */
const MOST_LINES = 40
const MOST_CHARACTERS = 16 * 1024
const SHOWN_LINES = 10
const SHOWN_CHARACTERS = 4 * 1024
/** A longer one is not shown in a page at all, but for its first lines. */
const MOST_FETCHED = 256 * 1024

/** What is shown of a long text: its beginning, its end, and how many lines are between them. */
type Fold = { readonly head: string; readonly tail: string; readonly hidden: number; readonly lines: number }

/** The index after the first lines of a text. */
const endOfHead = (text: string): number => {
  let end = 0
  for (let line = 0; line < SHOWN_LINES; line++) {
    const next = text.indexOf('\n', end)
    if (next < 0 || next >= SHOWN_CHARACTERS) break
    end = next + 1
  }
  return end > 0 ? end : SHOWN_CHARACTERS
}

/** The index of the last lines of a text. */
const startOfTail = (text: string): number => {
  let start = text.length
  for (let line = 0; line < SHOWN_LINES; line++) {
    const before = text.lastIndexOf('\n', start - 2)
    if (before < 0 || text.length - before > SHOWN_CHARACTERS) break
    start = before + 1
  }
  return start < text.length ? start : text.length - SHOWN_CHARACTERS / 4
}

/** Undefined for a text that is short enough to be shown whole. */
export const foldOf = (text: string): Fold | undefined => {
  const lines = countLinesUpToMost(text)
  if (lines <= MOST_LINES && text.length <= MOST_CHARACTERS) return undefined
  // What is cut is whole: a character, or a sequence that colours.
  const [end, start] = [endOfHead(text), startOfTail(text)].map((at) => cutAt(text, beforeSequence(text, at))) as [
    number,
    number,
  ]
  const tail = text.length > MOST_FETCHED ? '' : text.slice(Math.max(start, end))
  const head = text.slice(0, end)
  return { head, tail, hidden: Math.max(0, lines - countLinesUpToMost(head) - countLinesUpToMost(tail)), lines }
}

const UNITS = ['characters', 'kB', 'MB'] as const

/** A length in characters, for people. */
export const sizeText = (length: number): string => {
  if (length < 1_000) return `${length} ${UNITS[0]}`
  const thousands = length / 1_000
  return thousands < 1_000 ? `${Math.round(thousands)} ${UNITS[1]}` : `${(thousands / 1_000).toFixed(1)} ${UNITS[2]}`
}

export const counted = (count: number, word: string, words = `${word}s`): string =>
  `${countText(count)} ${count === 1 ? word : words}`

/** Where the rest of a folded text is: in the page, which a script can take it from, or as plain text. */
export type Rest = { readonly whole: string; readonly text?: string }

/** The link between the beginning and the end of a folded text. */
export const foldLink = ({ hidden, lines }: Fold, length: number, { whole, text }: Rest): Html => {
  const size = markup`<span>${manyLines(lines)}, ${sizeText(length)}</span>`
  if (length > MOST_FETCHED && text !== undefined)
    return markup`<div class="fold"><a href="${text}">Open as plain text</a>${size}</div>`
  const what = hidden > 0 && !areMore(lines) ? `Show ${counted(hidden, 'more line')}` : 'Show the rest'
  return markup`<div class="fold"><a href="${whole}" data-fold="">${what}</a>${size}</div>`
}

/** What a program wrote, in its colours. */
function* terminal(text: string): Generator<Html, void> {
  yield markup`<pre class="out" tabindex="0"><samp>`
  for (const { text: piece, colour, marks = [] } of readTerminal(text)) {
    if (piece === '') {
      yield none // a step without text
      continue
    }
    const classes = [colour, ...marks].flatMap((one) => (one === undefined ? [] : [`ansi-${one}`])).join(' ')
    yield classes === '' ? markup`${piece}` : markup`<span class="${classes}">${piece}</span>`
  }
  yield markup`</samp></pre>`
}

/** The output of a program in its colours, folded if it is long and the page can link to the rest. */
export function* output(text: string, rest: Rest | undefined): Generator<Html, void> {
  const fold = rest && foldOf(text)
  if (!fold) return yield* terminal(text)
  yield* terminal(fold.head)
  yield foldLink(fold, text.length, rest)
  if (fold.tail !== '') yield* terminal(fold.tail)
}

/** Text as it is written, without colours. */
export function* sliced(text: string): Generator<Html, void> {
  for (const slice of slices(text)) yield markup`${slice}`
}
