import { comparable } from '../../base/folded.ts'

/** Longer texts are not compared, because that takes time in proportion to the product of their lengths. */
const MOST_LETTERS = 64

/** How many letters have to be added, left out, replaced, or swapped with the next one to make one text of the other. */
const distance = (a: string, b: string): number => {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let k = 1; k <= b.length; k++) {
      const replaced = last[k - 1]! + (a[i - 1] === b[k - 1] ? 0 : 1)
      const isSwapped = i > 1 && k > 1 && a[i - 1] === b[k - 2] && a[i - 2] === b[k - 1]
      const swapped = isSwapped ? beforeLast[k - 2]! + 1 : Infinity
      row.push(Math.min(replaced, swapped, last[k]! + 1, row[k - 1]! + 1))
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length]!
}

/** How many letters may differ: none in texts of one or two. */
const mostOf = (text: string): number => {
  if (text.length < 3) return 0
  return text.length < 5 ? 1 : 2
}

/** Those of `all` that a mistyped text may stand for, the nearest first; case and form do not matter. */
export const nearest = (text: string, all: Iterable<string>): string[] => {
  const typed = comparable(text)
  if (typed.length > MOST_LETTERS) return []
  return [...all]
    .filter((one) => Math.abs(one.length - typed.length) <= mostOf(typed))
    .map((one) => ({ one, away: distance(typed, comparable(one)) }))
    .filter(({ away }) => away <= mostOf(typed))
    .sort((a, b) => a.away - b.away)
    .map(({ one }) => one)
}
