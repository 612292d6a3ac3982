import { countText } from '../../base/for-people.ts'
import type { ChangedLines } from '../changed-lines.ts'
import type { DiffLine, Words } from '../diff.ts'
import { type Html, markup, none } from './markup.ts'
import { type Rest, counted } from './output.ts'
import { type ProseOptions, codeLines } from './prose.ts'

/** The most pairs of lines of one difference in which words are compared. */
const MOST_PAIRS = 100
/** Lines that have less than this part of their words in common are other lines, not changed ones. */
const LEAST_SAME = 0.4

/** How many unchanged lines before and after a change are shown if the others are folded. */
const CONTEXT = 3
const LEAST_FOLDED = 4
/** The most lines that are shown of a difference that may be folded. */
const MOST_ROWS = 400

type DiffRow = DiffLine & { readonly before?: number | undefined; readonly after?: number | undefined }
type Gap = { readonly is: 'gap'; readonly text: string; readonly whole?: string }

const HUNK = /^@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Lines with their numbers: from `first` on, or as a patch says; without numbers if the place in the file is not known. */
const numbered = (lines: readonly DiffLine[], first: number | undefined): (DiffRow | Gap)[] => {
  let [before, after] = [first, first]
  return lines.map((line) => {
    if (line.is === 'head') {
      const hunk = HUNK.exec(line.text)
      const isPlace = !line.text.startsWith('\\')
      if (isPlace) [before, after] = hunk ? [Number(hunk[1]), Number(hunk[2])] : [undefined, undefined]
      return { is: 'gap', text: line.text }
    }
    const row = {
      ...line,
      before: line.is === 'added' ? undefined : before,
      after: line.is === 'removed' ? undefined : after,
    }
    if (line.is !== 'added' && before !== undefined) before += 1
    if (line.is !== 'removed' && after !== undefined) after += 1
    return row
  })
}

/** Folds long runs of unchanged lines, and all that is beyond the most lines that are shown, into one line that gives their number. */
const folded = (rows: readonly (DiffRow | Gap)[], { whole }: Rest): (DiffRow | Gap)[] => {
  const isNear = rows.map((_, i) =>
    rows.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ is }) => is !== 'same'),
  )
  const shown: (DiffRow | Gap)[] = []
  for (let i = 0; i < rows.length; i++) {
    let end = i
    while (end < rows.length && !isNear[end]) end += 1
    if (end - i >= LEAST_FOLDED) {
      shown.push({ is: 'gap', text: `${end - i} unchanged lines`, whole })
      i = end - 1
    } else shown.push(rows[i]!)
  }
  const hidden = shown.length - MOST_ROWS
  return hidden <= LEAST_FOLDED
    ? shown
    : [...shown.slice(0, MOST_ROWS), { is: 'gap', text: counted(hidden, 'more line'), whole }]
}

/** The two lines of a change, with marks around the words that differ; undefined if they have too little in common. */
const marked = (before: string, after: string, words: Words): readonly [Html, Html] | undefined => {
  const changes = words(before, after)
  if (!changes) return undefined
  const same = changes.reduce(
    (sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
    0,
  )
  if (same < LEAST_SAME * Math.min(before.trim().length, after.trim().length)) return undefined
  const side = (left: 'added' | 'removed', mark: (text: string) => Html) =>
    markup`${changes.flatMap((one) => (one[left] ? [] : [one.added || one.removed ? mark(one.value) : markup`${one.value}`]))}`
  return [side('added', (text) => markup`<del>${text}</del>`), side('removed', (text) => markup`<ins>${text}</ins>`)]
}

const number = (value: number | undefined): Html => markup`<td class="n">${value ?? ''}</td>`

const numbers = ({ before, after }: DiffRow): Html => markup`${number(before)}${number(after)}`
const noNumbers = markup`${number(undefined)}${number(undefined)}`

/** A line of the table, in which no line has a number unless `hasNumbers`. */
const rowOf = (row: DiffRow | Gap, text: Html, hasNumbers: boolean): Html => {
  const cells = (sign: string) =>
    markup`${hasNumbers && row.is !== 'gap' ? numbers(row) : none}<td class="s">${sign}</td><td dir="ltr">${text}</td>`
  switch (row.is) {
    case 'gap':
      return markup`<tr class="gap">${hasNumbers ? noNumbers : none}<td class="s"></td><td>${row.whole === undefined ? row.text : markup`<a href="${row.whole}" data-fold="">${row.text}</a>`}</td></tr>`
    case 'added':
      return markup`<tr class="add">${cells('+')}</tr>`
    case 'removed':
      return markup`<tr class="del">${cells('−')}</tr>`
    case 'same':
    case 'head':
      return markup`<tr>${cells('')}</tr>`
  }
}

/** Removed lines, with the added ones that follow them: by index, the line that each is compared with. */
const pairsOf = (rows: readonly (DiffRow | Gap)[]): ReadonlyMap<number, number> => {
  const pairs = new Map<number, number>()
  for (let i = 0; i < rows.length && pairs.size < MOST_PAIRS;) {
    let middle = i
    while (rows[middle]?.is === 'removed') middle += 1
    let end = middle
    while (rows[end]?.is === 'added') end += 1
    if (middle - i === end - middle) for (let k = i; k < middle; k++) pairs.set(k, middle + k - i)
    i = Math.max(end, i + 1)
  }
  return pairs
}

type DiffOptions = {
  /** The number of the first line, if it is known. */
  readonly first?: number | undefined
  /** Where the whole difference is; undefined if nothing is folded. */
  readonly rest: Rest | undefined
  /** The language of the file; empty if that is not known. */
  readonly language: string
  readonly how: ProseOptions
}

/** A difference as a table, line by line, which each are a step. */
export function* diffTable(
  changes: readonly DiffLine[],
  { first, rest, language, how }: DiffOptions,
): Generator<Html, void> {
  const all = numbered(changes, first)
  const rows = rest ? folded(all, rest) : all
  const hasNumbers = rows.some((row) => row.is !== 'gap' && (row.before ?? row.after) !== undefined)
  const pairs = pairsOf(rows)
  const lines = yield* codeLines(
    rows.map(({ text }) => text),
    language,
    how,
  )
  const texts = new Map<number, Html>()
  yield markup`<table class="diff" aria-label="Changed lines"><tbody>`
  for (const [i, row] of rows.entries()) {
    const other = pairs.get(i)
    const pair = other === undefined ? undefined : marked(row.text, rows[other]!.text, how.words)
    if (pair) texts.set(other!, pair[1])
    const marks = pair?.[0] ?? texts.get(i)
    yield rowOf(row, marks ?? lines[i]!, hasNumbers)
  }
  yield rows.length === 0 ? markup`<tr><td>${none}</td></tr></tbody></table>` : markup`</tbody></table>`
}

/** How many lines a difference adds and removes, for people. */
export const linesHtml = ({ added, removed }: ChangedLines): Html => {
  const plus = added > 0 ? markup`<span class="plus">+${countText(added)}</span>` : none
  const minus = removed > 0 ? markup`<span class="minus">−${countText(removed)}</span>` : none
  return markup`${plus}${added > 0 && removed > 0 ? ' ' : ''}${minus}`
}
