import type { Hunk } from '../api/attribution.ts'
import { sizeOf } from './hunks.ts'

/** How much one question may ask: hunks, and their added and removed lines together. */
export type Limits = { readonly hunks: number; readonly lines: number }

/** A hunk of a question, or a part of one, and which one it was. */
export type Piece = { readonly hunk: Hunk; readonly of: number }

/** Of a hunk that is too large for one question this share may be removed lines. */
const SHARE_OF_REMOVED = 5

/** A hunk in parts that each fit into a question. Of its removed lines all parts have the same: as many as fit. */
const cut = (hunk: Hunk, most: number): Hunk[] => {
  if (sizeOf(hunk) <= most) return [hunk]
  const { start = 1, added, removed = [], ...rest } = hunk
  const gone = removed.slice(0, Math.floor(most / SHARE_OF_REMOVED))
  const length = most - gone.length
  const parts: Hunk[] = []
  for (let from = 0; from < added.length; from += length)
    parts.push({
      ...rest,
      start: start + from,
      added: added.slice(from, from + length),
      ...(gone.length > 0 ? { removed: gone } : {}),
    })
  return parts
}

/**
 * Hunks as questions within the limits, in order, as few as that gives.
 * @param isWanted whether an answer is needed for any of these lines of a hunk: parts without them are not asked for
 */
export const questionsOf = (
  hunks: readonly Hunk[],
  limits: Limits,
  isWanted: (of: number, first: number, last: number) => boolean = () => true,
): Piece[][] => {
  const questions: Piece[][] = []
  let [current, lines] = [[] as Piece[], 0]
  for (const [of, whole] of hunks.entries())
    for (const hunk of cut(whole, limits.lines)) {
      const { start = 1, added } = hunk
      if (!isWanted(of, start, start + added.length - 1)) continue
      if (current.length === limits.hunks || lines + sizeOf(hunk) > limits.lines) {
        questions.push(current)
        ;[current, lines] = [[], 0]
      }
      current.push({ hunk, of })
      lines += sizeOf(hunk)
    }
  if (current.length > 0) questions.push(current)
  return questions
}
