import { type Literal, readLiteral } from '../literal.ts'
import { slices } from '../slices.ts'
import { isUnseen, visible, withoutEnd } from '../visible.ts'
import { type Kind, proseText } from './prose.ts'
import { escapeLine, indented } from './safe.ts'

/** A longer paragraph, or block of code, is indented slice by slice. */
const MOST = 16 * 1024
/** A step ends after this many characters; each line counts as `LINE` characters more. */
const STEP = 64 * 1024
const LINE = 32

/** White space that a paragraph of Markdown does not show: at the start of a line, tabs, and more than the two spaces after a sentence. */
const LOST = /^\s|\t|(?<![.!?:])\s\s|\s\s\s/

type Paragraph = { readonly text: string; /** Empty lines before it. */ readonly gap: number }

/** The paragraphs of a text, which empty lines separate; some steps yield undefined. */
function* paragraphs(text: string): Generator<Paragraph | undefined, void> {
  let left = STEP
  let [start, end, gap] = [0, 0, 0]
  for (let at = 0; at < text.length;) {
    const next = text.indexOf('\n', at)
    const after = next < 0 ? text.length : next + 1
    if (!isUnseen(text.slice(at, after))) {
      if (end === start) start = at
      end = after
    } else if (end > start) {
      yield { text: text.slice(start, end), gap }
      start = end = after
      gap = 1
    } else {
      start = end = after
      gap += 1
    }
    left -= LINE + after - at
    at = after
    if (left > 0) continue
    yield undefined
    left = STEP
  }
  if (end > start) yield { text: text.slice(start, end), gap }
}

/** The lines of a paragraph as Markdown; undefined if it would lose white space. */
const written = (text: string): string | undefined => {
  if (text.length > MOST) return undefined
  const lines = visible(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd())
  return lines.some((line) => line === '' || LOST.test(line)) ? undefined : lines.map(escapeLine).join('\\\n')
}

/** Indented code would become a part of these. */
const JOINS: readonly Kind[] = ['list', 'code', 'table', 'plain']

/** Text between fences: as paragraphs with all their line ends, or as indented code where a paragraph would lose white space. */
function* plain(text: string, before: Kind): Generator<string, Kind> {
  let previous = before
  let isFirst = true
  for (const one of paragraphs(text)) {
    yield ''
    if (!one) continue
    const lines = written(one.text)
    if (lines !== undefined) yield `${lines}\n\n`
    else {
      if (!isFirst && previous === 'plain') yield '\n'.repeat(one.gap - 1)
      else if (JOINS.includes(previous)) yield '*Text:*\n\n'
      yield* indented(slices(withoutEnd(one.text)))
    }
    previous = lines === undefined ? 'plain' : 'paragraph'
    isFirst = false
  }
  return previous
}

function* code(piece: Extract<Literal, { readonly is: 'code' }>, previous: Kind): Generator<string, void> {
  if (piece.text.length <= MOST) yield proseText([{ ...piece, text: visible(piece.text) }], previous)
  else {
    yield '*Code:*\n\n'
    yield* indented(slices(piece.text))
  }
}

/**
 * What somebody typed as Markdown that shows the same text: nothing in it is markup, except fenced code. Returns the kind of its last block.
 * @param before the kind of the block before it
 */
export function* typedText(text: string, before: Kind): Generator<string, Kind> {
  let previous = before
  for (const [piece] of readLiteral(text)) {
    yield ''
    if (!piece) continue
    if (piece.is === 'plain') previous = yield* plain(piece.text, previous)
    else {
      yield* code(piece, previous)
      previous = 'code'
    }
  }
  return previous
}
