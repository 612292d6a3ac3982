import type { Steps } from '../../base/json/steps.ts'
import { comparable, folded } from '../../base/folded.ts'
import { type NormalText, newNormalText } from '../../base/normal-form.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import { isWhole } from '../trace/tokens/words.ts'
import type { Query } from './query.ts'

/** The beginning and the end of an occurrence, as UTF-16 offsets. */
export type Mark = readonly [start: number, end: number]

/** A text with the occurrences of what was searched for. */
export type Found = { readonly text: SearchedText; readonly marks: readonly Mark[] }

/** A text while it is searched: in its normal form, that folded, and with the occurrences so far. */
type Examined = NormalText & { readonly text: SearchedText; readonly lower: string; readonly marks: Mark[] }

/** The most occurrences that are marked in a text. */
const MOST_MARKS = 50

/** Where a folded text occurs in another text, as whole words or parts of words. */
const occurrencesOf = (wanted: string, { normal, lower, placeOf }: Examined): Mark[] => {
  const marks: Mark[] = []
  for (let at = lower.indexOf(wanted); at >= 0 && marks.length < MOST_MARKS;) {
    const mark: Mark = [at, at + wanted.length]
    const isFound = isWhole(normal, lower, mark)
    if (isFound) marks.push(placeOf(mark))
    at = lower.indexOf(wanted, isFound ? mark[1] : at + 1)
  }
  return marks
}

/** Marks in their order, with overlapping ones joined. */
const merged = (marks: readonly Mark[]): Mark[] => {
  const result: [number, number][] = []
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    const last = result.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], end)
    else result.push([start, end])
  }
  return result
}

/** Marks each occurrence of a text. It yields after each examined text, because a search can take long, for example for many `a` in a text of only `a`. */
function* markAll(wanted: string, examined: readonly Examined[]): Steps<boolean> {
  let isFound = false
  for (const one of examined) {
    const marks = occurrencesOf(wanted, one)
    one.marks.push(...marks)
    isFound ||= marks.length > 0
    yield
  }
  return isFound
}

/** Text that JSON writes without escapes, unless a program has escaped more than it must. */
const PLAIN = /^[^"\\\p{Cc}]*$/u
/** JSON with more characters is not tested, but counts as possible. */
const MOST_TESTED = 64 * 1024
const UNNECESSARY_ESCAPE = /\\[u/]/

/**
 * Makes a quick test of the JSON of a message: false if it cannot have everything that the query asks for. Of a phrase the index knows only the
 * words, so it proposes many messages without the phrase; reading these would take most of the time of the search.
 */
export const newQuickTest = ({ texts }: Pick<Query, 'texts'>): ((json: string) => boolean) => {
  const needed = texts
    .map((alternatives) => alternatives.map(comparable))
    .filter((all) => all.every((one) => PLAIN.test(one)))
  return (json) => {
    if (needed.length === 0 || json.length > MOST_TESTED || UNNECESSARY_ESCAPE.test(json)) return true
    const lower = comparable(json)
    return needed.every((alternatives) => alternatives.some((one) => lower.includes(one)))
  }
}

/** The texts in the places that a query allows. */
function* allowedIn(texts: readonly SearchedText[], { conditions }: Pick<Query, 'conditions'>): Steps<Examined[]> {
  const { any = [], none = [] } = conditions.get('in') ?? {}
  const examined: Examined[] = []
  for (const text of texts) {
    if ((any.length > 0 && !any.includes(text.place)) || none.includes(text.place)) continue
    const normal = newNormalText(text.text)
    examined.push({ text, ...normal, lower: folded(normal.normal), marks: [] })
    yield
  }
  return examined
}

/**
 * The texts of a message in which the words of a query occur, with marks. Undefined unless of each list of alternatives one occurs in a place
 * that the query allows, and no excluded text occurs there.
 */
export function* findIn(
  texts: readonly SearchedText[],
  query: Pick<Query, 'texts' | 'excluded' | 'conditions'>,
): Steps<Found[] | undefined> {
  const examined = yield* allowedIn(texts, query)
  if (examined.length === 0) return undefined
  for (const alternatives of query.texts) {
    let isFound = false
    // All alternatives are marked, not only the first.
    for (const one of alternatives) isFound = (yield* markAll(comparable(one), examined)) || isFound
    if (!isFound) return undefined
  }
  const shown = query.texts.length === 0 ? examined.slice(0, 1) : examined.filter(({ marks }) => marks.length > 0)
  const found = shown.map(({ text, marks }) => ({ text, marks: merged(marks) }))
  for (const one of query.excluded) if (yield* markAll(comparable(one), examined)) return undefined
  return found
}
