import { findEnvValues } from './env-file.ts'
import { newFindWords } from './keywords.ts'
import type { Range } from './named.ts'
import { strengthOf } from './names.ts'
import { type Finding, type Rule, rules } from './rules.ts'
import { isSecretValue } from './values.ts'

/** What is known of a text: whether it is an environment file, and the name that it is the value of, as in arguments of a call. */
export type About = { readonly isEnv?: boolean; readonly name?: string | undefined }

/** Finds the secrets of a text, in order, without overlaps. */
export type FindSecrets = (text: string, about?: About) => readonly Finding[]

/** Findings in order, none of which overlap: of two that do, one is made, with the rule of the first one. */
const merged = (findings: readonly Finding[]): readonly Finding[] => {
  const result: Finding[] = []
  for (const one of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1)
    if (last && one.start < last.end) result[result.length - 1] = { ...last, end: Math.max(last.end, one.end) }
    else result.push(one)
  }
  return result
}

/** A text that is all secret, as the value of its name. */
const wholeText = (text: string, name: string): Finding | undefined => {
  const strength = text.length <= LONGEST_VALUE ? strengthOf(name) : undefined
  return strength && isSecretValue(text, strength, 'quoted')
    ? { rule: 'secret-value', start: 0, end: text.length }
    : undefined
}
const LONGEST_VALUE = 65_536

/** The shortest secret that any rule finds in a text. */
const SHORTEST = 6

const isOne = (found: Range | readonly Range[]): found is Range => 'start' in found

export const newFindSecrets = (table: readonly Rule[] = rules): FindSecrets => {
  const words = [...new Set(table.flatMap(({ keywords }) => keywords))]
  const findWords = newFindWords(words)
  const rulesOf = words.map((word) => [...table.keys()].filter((index) => table[index]!.keywords.includes(word)))
  /** Where the last finding of each rule ends: what lies in it is not looked at again. */
  const ends = new Int32Array(table.length)

  return (text, { isEnv = false, name } = {}) => {
    if (text.length < SHORTEST) return []
    let found: Finding[] | undefined
    ends.fill(0)
    findWords(text, (word, start) => {
      for (const index of rulesOf[word]!) {
        if (start < ends[index]!) continue
        const { rule, look } = table[index]!
        const result = look(text, start)
        if (!result) continue
        for (const range of isOne(result) ? [result] : result) {
          ends[index] = range.end
          ;(found ??= []).push({ rule, ...range })
        }
      }
    })
    const whole = name === undefined ? undefined : wholeText(text, name)
    if (whole) (found ??= []).push(whole)
    if (isEnv) (found ??= []).push(...findEnvValues(text))
    return found ? merged(found) : []
  }
}
