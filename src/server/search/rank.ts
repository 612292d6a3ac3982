import { comparable } from '../../base/folded.ts'
import type { SearchedText } from '../trace/tokens/searched-text.ts'
import type { Found, Mark } from './found.ts'
import type { FoundDoc } from './verify.ts'

/** The weight of a hit, by its place. */
const weights: Readonly<Record<SearchedText['place'], number>> = {
  trace: 6,
  prompt: 4,
  answer: 3,
  thinking: 2.5,
  call: 2,
  output: 1.5,
  system: 1,
}

/** The age at which the part of the score that depends on age is halved. */
const HALF_LIFE_MS = 180 * 86_400_000
/** The distance of two terms, in characters, at which their closeness is halved. */
const HALF_CLOSE = 40

const termsOf = ({ text, marks }: Found): Set<string> =>
  new Set(marks.map(([start, end]) => comparable(text.text.slice(start, end))))

/** How close together the terms of a text stand, from 0 to 1: by the shortest distance between two successive marks of different terms. */
const closeness = ({ text, marks }: Found, terms: number): number => {
  if (terms < 2) return 0
  const term = ([start, end]: Mark) => comparable(text.text.slice(start, end))
  let least = Infinity
  for (const [i, mark] of marks.entries()) {
    const next = marks[i + 1]
    if (next && term(next) !== term(mark)) least = Math.min(least, next[0] - mark[1])
  }
  return least === Infinity ? 0 : 1 / (1 + least / HALF_CLOSE)
}

type Scored = { readonly doc: FoundDoc; readonly score: number }

/** Scores hits by place, by how rare their words are among all hits, by how close together the words stand, and by age. */
const scored = (docs: readonly FoundDoc[]): Scored[] => {
  const terms = docs.map(({ found }) => found.map(termsOf))
  const counts = new Map<string, number>()
  for (const ofDoc of terms)
    for (const term of new Set(ofDoc.flatMap((one) => [...one]))) counts.set(term, (counts.get(term) ?? 0) + 1)
  const rarity = (term: string) => Math.log(1 + docs.length / counts.get(term)!)
  const newest = docs.reduce((most, { at }) => Math.max(most, at), -Infinity)

  return docs.map((doc, i) => {
    const best = new Map<string, number>()
    let close = 0
    for (const [k, found] of doc.found.entries()) {
      const ofText = terms[i]![k]!
      close = Math.max(close, closeness(found, ofText.size))
      for (const term of ofText) best.set(term, Math.max(best.get(term) ?? 0, weights[found.text.place] * rarity(term)))
    }
    const sum = [...best.values()].reduce((a, b) => a + b, 0)
    const recency = 1 / (1 + (newest - doc.at) / HALF_LIFE_MS)
    return { doc, score: sum * (1 + close) * (0.5 + recency / 2) }
  })
}

/** A trace with those of its hits whose texts were read, and the number of all its hits. */
export type FoundTrace = { readonly traceId: string; readonly docs: readonly FoundDoc[]; readonly count: number }

/** The number of all hits of a trace. */
type CountOf = (traceId: string) => number

/** Groups hits by trace, the latest first. */
export const byTime = (docs: readonly FoundDoc[], countOf: CountOf): FoundTrace[] =>
  [...Map.groupBy(docs, ({ traceId }) => traceId)].map(([traceId, docs]) => ({
    traceId,
    docs,
    count: countOf(traceId),
  }))

/** Groups hits by trace, the best first, in each trace too. Of two with the same score the later one is first. */
export const byRelevance = (docs: readonly FoundDoc[], countOf: CountOf): FoundTrace[] => {
  const groups = [...Map.groupBy(scored(docs), ({ doc }) => doc.traceId)].map(([traceId, all]) => {
    const sorted = all.toSorted((a, b) => b.score - a.score)
    const count = countOf(traceId)
    const score = sorted[0]!.score * (1 + Math.log2(count) / 10)
    return { traceId, docs: sorted.map(({ doc }) => doc), count, score }
  })
  return groups.toSorted((a, b) => b.score - a.score)
}

/** More marks of a text than these do not make it a better one to show. */
const MOST_COUNTED_MARKS = 10

/** The text of a hit that is shown: the one with the highest sum of its weight and the number of its marks. */
export const shownText = (found: readonly Found[]): Found => {
  const value = ({ text, marks }: Found) => weights[text.place] + Math.min(marks.length, MOST_COUNTED_MARKS)
  return found.reduce((a, b) => (value(b) > value(a) ? b : a))
}
