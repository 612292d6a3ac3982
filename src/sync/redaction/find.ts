import { findEnvValues } from './env-file.ts'
import type { Range } from './named-values.ts'
import { strengthOf } from './names.ts'
import { type Finding, type Rule, rules } from './rules.ts'
import { isSecretValue } from './values.ts'

/** Called for each occurrence of a word, in the order in which they end. `word` is the index of the word in the list. */
type OnWord = (word: number, start: number) => void

/** Finds all words of a list in a text in one pass, ignoring case (the algorithm of Aho and Corasick). */
type FindWords = (text: string, onWord: OnWord) => void

type Node = { readonly next: Map<number, number>; readonly words: number[]; fallback: number }

const newNode = (): Node => ({ next: new Map(), words: [], fallback: 0 })

/** The class of each ASCII character: 0 if it is in no word. Upper and lower case have the same class. */
const classesOf = (words: readonly string[]) => {
  const classes = new Uint8Array(128)
  let count = 1
  for (const character of new Set(words.join('').toLowerCase()))
    classes[character.charCodeAt(0)] = classes[character.toUpperCase().charCodeAt(0)] = count++
  return { classes, count }
}

const trieOf = (words: readonly string[], classes: Uint8Array): readonly Node[] => {
  const nodes = [newNode()]
  for (const [index, word] of words.entries()) {
    let at = 0
    for (const character of word) {
      const key = classes[character.charCodeAt(0)]!
      const next = nodes[at]!.next.get(key) ?? nodes.push(newNode()) - 1
      nodes[at]!.next.set(key, next)
      at = next
    }
    nodes[at]!.words.push(index)
  }
  return nodes
}

/**
 * The transition for each state and class: twice the offset of the next state's row, plus 1 where a word ends in that state. A state
 * is a node of the trie. Nodes are visited breadth first, so that the fallbacks of shorter ones are complete.
 */
const transitionsOf = (nodes: readonly Node[], count: number): Uint32Array => {
  const next = new Uint16Array(nodes.length * count)
  const queue = [0]
  for (const at of queue) {
    const { next: children, fallback } = nodes[at]!
    for (let key = 1; key < count; key++) {
      const child = children.get(key)
      const instead = at === 0 ? 0 : next[fallback * count + key]!
      next[at * count + key] = child ?? instead
      if (child === undefined) continue
      nodes[child]!.fallback = instead
      nodes[child]!.words.push(...nodes[instead]!.words)
      queue.push(child)
    }
  }
  return Uint32Array.from(next, (state) => 2 * state * count + (nodes[state]!.words.length > 0 ? 1 : 0))
}

/** `words` consist of ASCII characters, fewer than 65,536 in all. */
const newFindWords = (words: readonly string[]): FindWords => {
  const { classes, count } = classesOf(words)
  const nodes = trieOf(words, classes)
  const transitions = transitionsOf(nodes, count)
  const lengths = words.map(({ length }) => length)
  return (text, onWord) => {
    let row = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      const step = code < 128 ? transitions[row + classes[code]!]! : 0
      row = step >>> 1
      if ((step & 1) === 0) continue
      for (const word of nodes[row / count]!.words) onWord(word, i + 1 - lengths[word]!)
    }
  }
}

/** What is known about a text: whether it belongs to an environment file, and the name of which it is the value. */
type About = { readonly isEnv?: boolean; readonly name?: string | undefined }

/** Finds the secrets in a text, in order, without overlaps. */
export type FindSecrets = (text: string, about?: About) => readonly Finding[]

/** Sorts findings, and joins those that overlap into one, with the rule of the first. */
const merged = (findings: readonly Finding[]): readonly Finding[] => {
  const result: Finding[] = []
  for (const one of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1)
    if (last && one.start < last.end) result[result.length - 1] = { ...last, end: Math.max(last.end, one.end) }
    else result.push(one)
  }
  return result
}

/** The whole text as a finding, where its name makes it a secret. */
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
  /** Where the last finding of each rule ends. Keywords within it are skipped. */
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
