import { folded } from '../trace/messages/folded.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import { isWhole } from '../trace/tokens/words.ts'
import type { Query } from './query.ts'

/** The beginning and the end of what was found, as UTF-16 offsets. */
export type Mark = readonly [start: number, end: number]

/** A text with what was found in it. */
export type Found = { readonly text: SearchedText; readonly marks: readonly Mark[] }

/** Of each text so many occurrences are marked. */
const MOST_MARKS = 50

/** Where a folded text stands in another one: as words, or as parts of words. */
const occurrencesOf = (wanted: string, { text }: SearchedText, lower: string): Mark[] => {
  const marks: Mark[] = []
  for (let at = lower.indexOf(wanted); at >= 0 && marks.length < MOST_MARKS;) {
    const mark: Mark = [at, at + wanted.length]
    const isFound = isWhole(text, lower, mark)
    if (isFound) marks.push(mark)
    at = lower.indexOf(wanted, isFound ? mark[1] : at + 1)
  }
  return marks
}

/** In their order; those that overlap are one. */
const merged = (marks: readonly Mark[]): Mark[] => {
  const result: [number, number][] = []
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}

/**
 * The texts of a message in which the words of a query were found, with marks. Undefined unless the message has a text of each list,
 * in a place that the query allows, and none of the excluded ones.
 */
export const findIn = (
  texts: readonly SearchedText[],
  query: Pick<Query, 'texts' | 'excluded' | 'conditions'>,
): Found[] | undefined => {
  const { any = [], none = [] } = query.conditions.get('in') ?? {}
  const isAllowed = ({ place }: SearchedText) => (any.length === 0 || any.includes(place)) && !none.includes(place)
  const looked = texts.filter(isAllowed).map((text) => ({ text, lower: folded(text.text), marks: [] as Mark[] }))
  if (looked.length === 0) return undefined
  const find = (wanted: string): boolean => {
    let isFound = false
    for (const one of looked) {
      const marks = occurrencesOf(wanted, one.text, one.lower)
      one.marks.push(...marks)
      isFound ||= marks.length > 0
    }
    return isFound
  }
  for (const alternatives of query.texts) {
    // All alternatives are marked, not only the first.
    const found = alternatives.map((one) => find(folded(one)))
    if (!found.includes(true)) return undefined
  }
  const isExcluded = (one: string) =>
    looked.some(({ text, lower }) => occurrencesOf(folded(one), text, lower).length > 0)
  if (query.excluded.some(isExcluded)) return undefined
  const shown = query.texts.length === 0 ? looked.slice(0, 1) : looked.filter(({ marks }) => marks.length > 0)
  return shown.map(({ text, marks }) => ({ text, marks: merged(marks) }))
}
