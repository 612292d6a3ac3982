import type { Steps } from '../base/json/steps.ts'
import { folded } from '../trace/messages/folded.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import { isWhole } from '../trace/tokens/words.ts'
import type { Query } from './query.ts'

/** The beginning and the end of what was found, as UTF-16 offsets. */
export type Mark = readonly [start: number, end: number]

/** A text with what was found in it. */
export type Found = { readonly text: SearchedText; readonly marks: readonly Mark[] }

type Looked = { readonly text: SearchedText; readonly lower: string; readonly marks: Mark[] }

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

/** Marks a text wherever it stands. Text by text, because one that nearly stands everywhere takes long to look for. */
function* markAll(wanted: string, looked: readonly Looked[]): Steps<boolean> {
  let isFound = false
  for (const one of looked) {
    const marks = occurrencesOf(wanted, one.text, one.lower)
    one.marks.push(...marks)
    isFound ||= marks.length > 0
    yield
  }
  return isFound
}

function* allowedIn(texts: readonly SearchedText[], { conditions }: Pick<Query, 'conditions'>): Steps<Looked[]> {
  const { any = [], none = [] } = conditions.get('in') ?? {}
  const looked: Looked[] = []
  for (const text of texts) {
    if ((any.length > 0 && !any.includes(text.place)) || none.includes(text.place)) continue
    looked.push({ text, lower: folded(text.text), marks: [] })
    yield
  }
  return looked
}

/**
 * The texts of a message in which the words of a query were found, with marks. Undefined unless the message has a text of each list,
 * in a place that the query allows, and none of the excluded ones.
 */
export function* findIn(
  texts: readonly SearchedText[],
  query: Pick<Query, 'texts' | 'excluded' | 'conditions'>,
): Steps<Found[] | undefined> {
  const looked = yield* allowedIn(texts, query)
  if (looked.length === 0) return undefined
  for (const alternatives of query.texts) {
    let isFound = false
    // All alternatives are marked, not only the first.
    for (const one of alternatives) isFound = (yield* markAll(folded(one), looked)) || isFound
    if (!isFound) return undefined
  }
  const shown = query.texts.length === 0 ? looked.slice(0, 1) : looked.filter(({ marks }) => marks.length > 0)
  const found = shown.map(({ text, marks }) => ({ text, marks: merged(marks) }))
  for (const one of query.excluded) if (yield* markAll(folded(one), looked)) return undefined
  return found
}
