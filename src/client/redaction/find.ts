import { findEnvValues } from './env-file.ts'
import type { Range } from './named-values.ts'
import { strengthOf } from './names.ts'
import { type Finding, type Rule, rules } from './rules.ts'
import { isUnsure, mayHide, showText, textShown } from './shown.ts'
import { isSecretValue } from './values.ts'

/** Called for each occurrence of a word, in the order in which they end. `word` is the index of the word in the list. */
type OnWord = (word: number, start: number) => void

/**
 * Finds all words of a list in a text in one pass, ignoring case (the algorithm of Aho and Corasick). Returns whether all of the text is
 * surely shown as it is written.
 */
type FindWords = (text: string, onWord: OnWord) => boolean

type Node = { readonly next: Map<number, number>; readonly words: number[]; fallback: number }

const newNode = (): Node => ({ next: new Map(), words: [], fallback: 0 })

/** The bit in a class that says that a character may be shown otherwise, alone or with the next one. */
const UNSURE = 0x80

/** The class of each ASCII character: 0 if it is in no word. Upper and lower case have the same class. */
const classesOf = (words: readonly string[]) => {
  const classes = new Uint8Array(128)
  let count = 1
  for (const character of new Set(words.join('').toLowerCase()))
    classes[character.charCodeAt(0)] = classes[character.toUpperCase().charCodeAt(0)] = count++
  return { classes, count }
}

const withUnsure = (classes: Uint8Array): Uint8Array =>
  classes.map((each, code) => each | (isUnsure(code) ? UNSURE : 0))

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
  const kinds = withUnsure(classes)
  return (text, onWord) => {
    let row = 0
    let isShown = true
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      const kind = code < 128 ? kinds[code]! : UNSURE
      if (kind >= UNSURE && isShown) isShown = !mayHide(text, i)
      const step = transitions[row + (kind & ~UNSURE)]!
      row = step >>> 1
      if ((step & 1) === 0) continue
      for (const word of nodes[row / count]!.words) onWord(word, i + 1 - lengths[word]!)
    }
    return isShown
  }
}

/** What is known about a text: whether it belongs to an environment file, and the name of which it is the value. */
type About = { readonly isEnv?: boolean | undefined; readonly name?: string | undefined }

/** A secret in a text, and its value as it is shown. Its place includes what is hidden within it. */
export type Secret = Finding & { readonly value: string }

/** Finds the secrets in a text as it is shown, in order, without overlaps. */
export type FindSecrets = (text: string, about?: About) => readonly Secret[]

/** A finding with its value, unless it was joined from several. */
type Found = Finding & { readonly value?: string }

/** Sorts findings, and joins those that overlap into one, with the rule of the first. */
const merged = (findings: readonly Found[]): readonly Found[] => {
  const result: Found[] = []
  for (const one of findings.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1)
    if (!last || one.start >= last.end) result.push(one)
    else if (one.end > last.end) result[result.length - 1] = { rule: last.rule, start: last.start, end: one.end }
  }
  return result
}

/** What is no part of a value: a sequence for a terminal, a zero, a character of HTML, one that looks like ASCII. As it is seen, it is judged too. */
const artefact =
  /[\0\u001b\u009b\uff01-\uff5e]|(?:\\(?:u001[bB]|x1[bB]|033|[eE])|\^\[)[[\]]|&(?:#\w{1,7}|[a-z]{2,6});|\ud835[\udc00-\udfff]/

const isHidden = (text: string): boolean => textShown(text) === ''

/** Whether a finding is, but for what is hidden, within the one of `sorted` that overlaps it first. */
const isWithin = (text: string, { start, end }: Range, sorted: readonly Range[]): boolean => {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[middle]!.end <= start) low = middle + 1
    else high = middle
  }
  const other = sorted[low]
  if (!other || other.start >= end) return false
  return isHidden(text.slice(start, other.start)) && isHidden(text.slice(other.end, end))
}

/** The secrets in a text: those that are seen, and others that are in it as it is written, such as what was overwritten. */
const joined = (text: string, seen: readonly Secret[], written: readonly Secret[]): readonly Secret[] => {
  const places = merged(seen)
  const others = written.filter((one) => !artefact.test(one.value) && !isWithin(text, one, places))
  return merged([...places, ...others]).map((one) => ({
    ...one,
    value: one.value ?? textShown(text.slice(one.start, one.end)),
  }))
}

/** Finds all places of values in a text as it is shown or written, in order, without overlaps. `rules` has the rule of each value. */
export const findKnown = (
  text: string,
  values: readonly string[],
  rules: ReadonlyMap<string, string>,
): readonly Secret[] => {
  if (values.length === 0) return []
  const placesIn = (one: string): readonly Secret[] => {
    const places: Secret[] = []
    for (const value of values)
      for (let start = one.indexOf(value); start >= 0; start = one.indexOf(value, start + value.length))
        places.push({ rule: rules.get(value)!, value, start, end: start + value.length })
    return places
  }
  const shown = showText(text)
  const seen = shown ? placesIn(shown.text).map((one) => ({ ...one, ...shown.originOf(one) })) : []
  return joined(text, seen, placesIn(text))
}

/** The whole text as a finding, where its name makes it a secret. */
const wholeText = (text: string, name: string): Finding | undefined => {
  const strength = text.length <= LONGEST_VALUE ? strengthOf(textShown(name)) : undefined
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

  /** Whether the text that was searched last is surely shown as it is written. */
  let isShown = true

  /** Finds the secrets in a text as it is written. */
  const findWritten = (text: string, { isEnv = false, name }: About): readonly Secret[] => {
    let found: Finding[] | undefined
    ends.fill(0)
    isShown = findWords(text, (word, start) => {
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
    return found ? merged(found).map((one) => ({ ...one, value: text.slice(one.start, one.end) })) : []
  }

  return (text, about = {}) => {
    if (text.length < SHORTEST) return []
    const written = findWritten(text, about)
    const shown = isShown ? undefined : showText(text)
    if (!shown) return written
    const seen = findWritten(shown.text, about).map((one) => ({ ...one, ...shown.originOf(one) }))
    return joined(text, seen, written)
  }
}
