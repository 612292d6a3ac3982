import { type Steps, atOnce } from '../base/json/steps.ts'

/** Longer texts are not compared, because splitting them into lines would take long. */
export const MOST_COMPARED = 32 * 1024
/** With more lines, or more changed ones than `mostEdits`, the whole old text counts as removed and the whole new one as added. */
export const MOST_LINES = 1_000

/** How many changed lines are looked for in texts of this length. The work for it, the square, is in proportion to the length. */
export const mostEdits = (length: number): number => Math.min(300, 2 * Math.floor(Math.sqrt(length)))

/** How many lines a change adds and removes. */
export type ChangedLines = { readonly added: number; readonly removed: number }

const ENDS_IN_STEP = 100_000

export function* countLinesInSteps(text: string): Steps<number> {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) if (++count % ENDS_IN_STEP === 0) yield
  return text === '' || text.endsWith('\n') ? count : count + 1
}

/** The number of lines of a text; an end of line at its end begins no further one. */
export const countLines = (text: string): number => atOnce(countLinesInSteps(text))

/** The lines of a text without their ends. */
export const linesOf = (text: string): string[] => {
  const lines = text.replace(/\r\n?/g, '\n').split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/**
 * The length of the shortest list of lines to remove and to add that makes `after` of `before` (Myers 1986, without the list itself);
 * undefined if it is longer than `most`.
 */
const distance = (before: readonly string[], after: readonly string[], most: number): number | undefined => {
  /** How many old lines are used, by how many more old than new lines are used; the index is that difference plus `most + 1`. */
  const reached = new Int32Array(2 * most + 3)
  for (let edits = 0; edits <= most; edits++) {
    for (let k = -edits; k <= edits; k += 2) {
      const [fewer, more] = [reached[most + k]!, reached[most + k + 2]!]
      let x = k === -edits || (k !== edits && fewer < more) ? more : fewer + 1
      let y = x - k
      while (x < before.length && y < after.length && before[x] === after[y]) [x, y] = [x + 1, y + 1]
      if (x >= before.length && y >= after.length) return edits
      reached[most + k + 1] = x
    }
  }
  return undefined
}

/** How many lines the replacement of a text by another one changes. Texts that are too long to be compared count whole. */
export const changedLines = (before: string, after: string): ChangedLines => atOnce(changedLinesInSteps(before, after))

export function* changedLinesInSteps(before: string, after: string): Steps<ChangedLines> {
  if (before.length + after.length > MOST_COMPARED)
    return { added: yield* countLinesInSteps(after), removed: yield* countLinesInSteps(before) }
  const [old, changed] = [linesOf(before), linesOf(after)]
  const areFew = old.length <= MOST_LINES && changed.length <= MOST_LINES
  const edits = areFew ? distance(old, changed, mostEdits(before.length + after.length)) : undefined
  if (edits === undefined) return { added: changed.length, removed: old.length }
  const longer = changed.length - old.length
  return { added: (edits + longer) / 2, removed: (edits - longer) / 2 }
}
