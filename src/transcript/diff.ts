import { structuredPatch } from 'diff'
import { MOST_COMPARED, MOST_LINES, linesOf, mostEdits } from './changed-lines.ts'

/** A line of a difference, without its line end. */
export type DiffLine = { readonly is: 'same' | 'added' | 'removed'; readonly text: string }

const kinds: Readonly<Record<string, DiffLine['is']>> = { '+': 'added', '-': 'removed', ' ': 'same' }

const all = (is: DiffLine['is'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ is, text }))

const compare = (before: readonly string[], after: readonly string[], most: number) => {
  if (before.length > MOST_LINES || after.length > MOST_LINES) return undefined
  const [old, changed] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(''))
  const options = { context: Number.MAX_SAFE_INTEGER, maxEditLength: most }
  const patch = structuredPatch('', '', old!, changed!, '', '', options)
  return patch?.hunks.flatMap(({ lines }) => lines.map((line) => ({ is: kinds[line[0]!]!, text: line.slice(1) })))
}

/** The changes of an edit, line by line, with the unchanged lines. Undefined if the texts are too long to be compared. */
export const diffLines = (before: string, after: string): DiffLine[] | undefined => {
  if (before.length + after.length > MOST_COMPARED) return undefined
  const [old, changed] = [linesOf(before), linesOf(after)]
  const compared = compare(old, changed, mostEdits(before.length + after.length))
  // For equal texts the library returns no difference at all.
  return compared && compared.length > 0 ? compared : [...all('removed', old), ...all('added', changed)]
}

/** The lines of a patch of an agent, by their first character. */
export const patchLines = (patch: string): DiffLine[] | undefined => {
  if (patch.length > MOST_COMPARED) return undefined
  return linesOf(patch).map((line) => {
    const is = line.startsWith('+++') || line.startsWith('---') ? 'same' : (kinds[line[0] ?? ''] ?? 'same')
    return { is, text: is === 'same' ? line : line.slice(1) }
  })
}
