import { diffWordsWithSpace, structuredPatch } from 'diff'
import { MOST_COMPARED, MOST_LINES, linesOf, mostEdits } from './changed-lines.ts'
import { type PatchLine, linesOfPatch } from './patches.ts'

/** A line of a difference, without its line end. Only a patch has heads: lines that tell where the others belong. */
export type DiffLine = { readonly is: PatchLine; readonly text: string }

/** A difference of more lines is not shown as one. */
const MOST_SHOWN = 2 * MOST_LINES

const kinds: Readonly<Record<string, DiffLine['is']>> = { '+': 'added', '-': 'removed', ' ': 'same' }

const all = (is: DiffLine['is'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ is, text }))

const compare = (before: readonly string[], after: readonly string[], most: number) => {
  if (before.length > MOST_LINES || after.length > MOST_LINES) return undefined
  const [old, changed] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(''))
  const options = { context: Number.MAX_SAFE_INTEGER, maxEditLength: most }
  const patch = structuredPatch('', '', old!, changed!, '', '', options)
  return patch?.hunks.flatMap(({ lines }) => lines.map((line) => ({ is: kinds[line[0]!]!, text: line.slice(1) })))
}

/** The changes of an edit, line by line, with the unchanged lines. Undefined if the texts are too long. */
export const diffLines = (before: string, after: string): DiffLine[] | undefined => {
  if (before.length + after.length > MOST_COMPARED) return undefined
  const [old, changed] = [linesOf(before), linesOf(after)]
  if (old.length + changed.length > MOST_SHOWN) return undefined
  const compared = compare(old, changed, mostEdits(before.length + after.length))
  // For equal texts the library returns no difference at all.
  return compared && compared.length > 0 ? compared : [...all('removed', old), ...all('added', changed)]
}

/** The lines of a patch of an agent, or of what it does to one file. Undefined for a text that is too long, or is not a patch. */
export const patchLines = (patch: string, isOfFile = false): DiffLine[] | undefined => {
  if (patch.length > MOST_COMPARED || linesOf(patch).length > MOST_SHOWN) return undefined
  const lines = [...linesOfPatch(patch.replace(/\r\n?/g, '\n'), isOfFile)]
  if (lines.every(({ is }) => is === 'head')) return undefined
  return lines.map(({ is, text }) => ({
    is,
    text: is === 'head' || (is === 'same' && text[0] !== ' ') ? text : text.slice(1),
  }))
}

/** The most pairs of lines of a file in which words are compared, and the most characters of such a line. */
const MOST_PAIRS = 1_000
const MOST_CHARACTERS = 400
/** Lines with more changed words have too little in common to be shown as one line that was changed. */
const MOST_CHANGED_WORDS = 60

/** The words of two lines, with a mark at those that differ. Undefined if much of the file was compared before. */
export type Words = (before: string, after: string) => ReturnType<typeof diffWordsWithSpace> | undefined

/** Compares words in the differences of one file. */
export const newWords = (): Words => {
  let left = MOST_PAIRS
  return (before, after) => {
    if (left === 0 || before.length > MOST_CHARACTERS || after.length > MOST_CHARACTERS) return undefined
    left -= 1
    return diffWordsWithSpace(before, after, { maxEditLength: MOST_CHANGED_WORDS })
  }
}
