import { folded } from '../../../base/folded.ts'
import { normalForm } from '../../../base/normal-form.ts'

/** The kinds of characters. A joiner, such as `_`, belongs to a word and separates two of its parts. */
const SEPARATOR = 0
const LETTER = 1
const CAPITAL = 2
const DIGIT = 3
const JOINER = 4
const CJK = 5

type Kind = typeof SEPARATOR | typeof LETTER | typeof CAPITAL | typeof DIGIT | typeof JOINER | typeof CJK

const patterns: readonly (readonly [Kind, RegExp])[] = [
  [JOINER, /^[_$]$/],
  [CJK, /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]$/u],
  [CAPITAL, /^\p{Lu}$/u],
  [DIGIT, /^\p{N}$/u],
  [LETTER, /^[\p{L}\p{M}]$/u],
]

const kindOfCharacter = (character: string): Kind =>
  patterns.find(([, pattern]) => pattern.test(character))?.[0] ?? SEPARATOR

/** The kinds of the code units of the basic plane; 255 for those that are not known yet. */
const known = new Uint8Array(0x10000).fill(255)

const kindAt = (text: string, at: number): Kind => {
  const code = text.charCodeAt(at)
  if (code >= 0xd800 && code < 0xe000) return kindOfSurrogate(text, at, code)
  if (known[code] === 255) known[code] = kindOfCharacter(text[at]!)
  return known[code] as Kind
}

/** Both halves of a character have its kind. */
const kindOfSurrogate = (text: string, at: number, code: number): Kind => {
  const first = code < 0xdc00 ? at : at - 1
  const point = first < 0 ? 0 : text.codePointAt(first)!
  return point > 0xffff ? kindOfCharacter(String.fromCodePoint(point)) : SEPARATOR
}

/** Whether an index is between the two halves of a surrogate pair. */
const dividesCharacter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000 && (text.codePointAt(at - 1) ?? 0) > 0xffff
}

/**
 * Whether a part of a word may begin or end at an index of a text: `getUserName`, `HTTPServer`, `tool_use_id` and `utf8` have parts. Each
 * character of Chinese, Japanese and Korean is a part.
 */
export const isBoundary = (text: string, at: number): boolean => {
  if (at <= 0 || at >= text.length) return true
  if (dividesCharacter(text, at)) return false
  return isBetween(kindAt(text, at - 1), kindAt(text, at), () => kindAt(text, at + 1))
}

const isBetween = (before: Kind, after: Kind, next: () => Kind): boolean => {
  if (before !== after) return !(before === CAPITAL && after === LETTER)
  if (before === CAPITAL) return next() === LETTER
  return before === CJK || before === JOINER || before === SEPARATOR
}

/** The most letters of a word that count; the rest of a longer word is ignored. */
const MOST_LETTERS = 80
const HEX = /^[\da-f]{12,}$/
/** The lengths of the short forms in which people write hashes. */
const HASH_LENGTHS = [7, 12] as const

type Span = readonly [start: number, end: number]

/** Where the parts of a word are, without joiners; a word that has no parts is its only part. */
const partsIn = (word: string): Span[] => {
  const parts: Span[] = []
  let start = 0
  for (let at = 1; at <= word.length; at += 1) {
    if (!isBoundary(word, at)) continue
    if (kindAt(word, start) !== JOINER) parts.push([start, at])
    start = at
  }
  return parts
}

/**
 * A text without joiners counts as random if it has more parts than this, and if these are shorter on average than `LEAST_LENGTH`, as in Base64,
 * where every second letter begins a part. Nobody searches for a part of such a text.
 */
const MOST_SHORT_PARTS = 8
const LEAST_LENGTH = 3

/** Whether parts without joiners between them are random text, such as Base64 or a hash: many short ones. */
const areRandom = (parts: readonly Span[]): boolean =>
  parts.length > MOST_SHORT_PARTS && parts.at(-1)![1] - parts[0]![0] < LEAST_LENGTH * parts.length

/** The parts of a word, where random text between two joiners is one part. */
const withRandomAsOne = (parts: readonly Span[]): Span[] => {
  const found: Span[] = []
  for (let from = 0; from < parts.length;) {
    let to = from + 1
    while (to < parts.length && parts[to]![0] === parts[to - 1]![1]) to += 1
    const joined = parts.slice(from, to)
    found.push(...(areRandom(joined) ? [[joined[0]![0], joined.at(-1)![1]] as const] : joined))
    from = to
  }
  return found
}

/** Parts in lower case, and each pair of neighbours with what joins them. */
const piecesOf = (spans: readonly Span[], lower: string) => ({
  parts: spans.map(([start, end]) => lower.slice(start, end)),
  pairs: spans.slice(1).map(([, end], i) => lower.slice(spans[i]![0], end)),
})

/**
 * Where the runs of a word lie that its joiners separate and that have fewer parts in lower case, and the word itself if it has such a run: typed in lower
 * case they are not found by the pairs of their parts.
 */
const runsWithCase = (parts: readonly Span[], lower: string): Span[] => {
  const runs: { start: number; end: number; count: number }[] = []
  for (const [start, end] of parts) {
    const last = runs.at(-1)
    if (last?.end === start) Object.assign(last, { end, count: last.count + 1 })
    else runs.push({ start, end, count: 1 })
  }
  const found = runs
    .filter(({ start, end, count }) => count > 2 && partsIn(lower.slice(start, end)).length < count)
    .map(({ start, end }): Span => [start, end])
  return found.length > 0 && runs.length > 1 ? [...found, [0, lower.length]] : found
}

/**
 * The tokens of a word: itself, its parts, their pairs, its runs of many parts, and the short forms of a hash. Any other word of three parts or more is found by their pairs.
 */
const tokensOfWord = (word: string): string[] => {
  const lower = folded(word)
  const spans = withRandomAsOne(partsIn(word))
  const { parts, pairs } = piecesOf(spans, lower)
  const whole = pairs.length > 1 ? runsWithCase(spans, lower).map(([start, end]) => lower.slice(start, end)) : [lower]
  const hashes = [lower, ...parts].filter((piece) => HEX.test(piece))
  const shortForms = hashes.flatMap((hash) => HASH_LENGTHS.map((length) => hash.slice(0, length)))
  return [...new Set([...whole, ...parts, ...pairs, ...shortForms])].filter((token) => token.length > 1)
}

/** The tokens of a run of characters: each character, and each pair of neighbours. */
const tokensOfCjk = (text: string): string[] => {
  const characters = [...text]
  return characters.flatMap((character, i) => (i === 0 ? [character] : [character, characters[i - 1]! + character]))
}

/**
 * The tokens of a word of `eachWord`, in lower case: the word, unless it has more than two parts that joiners separate; its parts, where random text counts as one part;
 * the pairs of successive parts; and the short forms of a hash. In Chinese, Japanese and Korean they are the characters of the word and the pairs of
 * these. Other single characters are no tokens.
 */
export const tokensOf = (word: string, isCjk: boolean): readonly string[] =>
  isCjk ? tokensOfCjk(word) : tokensOfWord(word)

/** Calls `visit` with each word of a text, in order. In Chinese, Japanese and Korean a word is a run of characters. */
export const eachWord = (text: string, visit: (word: string, isCjk: boolean) => void): void => {
  const { length } = text
  for (let at = 0; at < length;) {
    const start = at
    const kind = kindAt(text, at++)
    if (kind === SEPARATOR) continue
    const isCjk = kind === CJK
    for (; at < length; at++) {
      const next = kindAt(text, at)
      if (next === SEPARATOR || (next === CJK) !== isCjk) break
    }
    visit(text.slice(start, isCjk ? at : Math.min(at, start + MOST_LETTERS)), isCjk)
  }
}

const isOfWord = (kind: Kind) => kind !== SEPARATOR && kind !== CJK

/** The tokens that a message must have if it holds a text: of each entry one alternative, and all tokens of that. */
export type NeededTokens = readonly (readonly (readonly string[])[])[]

/** The tokens of every message that holds a text as whole words or parts of words. Empty if nothing can be said. */
export const neededTokens = (text: string): NeededTokens => {
  const needed: NeededTokens[number][] = []
  eachWord(normalForm(text), (word, isCjk) => needed.push(...(isCjk ? neededOfCjk(word) : neededOfWord(word))))
  return needed
}

const neededOfCjk = (word: string): NeededTokens => {
  const characters = [...word]
  if (characters.length === 1) return [[[word]]]
  return characters.slice(1).map((character, i) => [[characters[i]! + character]])
}

/** The alternatives of a word with these parts: all pairs of successive parts, which a longer word has as well, or the word as one written in lower case has it; of a single part the word or the part. */
const alternativesOf = (parts: readonly Span[], lower: string): string[][] => {
  const {
    parts: [part = ''],
    pairs,
  } = piecesOf(parts, lower)
  if (pairs.length > 1) return [pairs, [lower]]
  if (pairs.length > 0) return [pairs]
  return part === lower ? [[lower]] : [[lower], [part]]
}

/**
 * The tokens that a message must have if it has a word. The alternatives: the parts of the word, where random text is one part; its parts without that
 * rule, because within a longer word the text may not count as random; the short form of a hash.
 */
const neededOfWord = (word: string): NeededTokens => {
  const lower = folded(word)
  const parts = partsIn(word)
  const joined = withRandomAsOne(parts)
  if (lower.length < 2 || (parts.length < 2 && !parts.some(([start, end]) => end - start > 1))) return []
  const alternatives = alternativesOf(joined, lower)
  if (joined.length < parts.length) alternatives.push(...alternativesOf(parts, lower))
  if (isHashStart(lower)) alternatives.push([lower.slice(0, lower.length < 12 ? 7 : 12)])
  return [alternatives]
}

/** Whether a text in lower case may be the beginning of a hash. */
const isHashStart = (lower: string): boolean => /^[\da-f]{7,}$/.test(lower)

/** The end of the run of hexadecimal digits that begins at an index of a text in lower case. */
const endOfHex = (lower: string, start: number): number => {
  let at = start
  while (at < lower.length && /[\da-f]/.test(lower[at]!)) at += 1
  return at
}

/** Whether the piece of a text from `start` to `end` is a whole word, one or several parts of a word, or the beginning of a hash. */
export const isWhole = (text: string, lower: string, [start, end]: readonly [number, number]): boolean => {
  if (!isBoundary(text, start)) return false
  if (isBoundary(text, end)) return true
  if (!isHashStart(lower.slice(start, end))) return false
  if (start > 0 && isOfWord(kindAt(text, start - 1))) return false
  const stop = endOfHex(lower, end)
  return stop - start >= 12 && (stop === lower.length || !isOfWord(kindAt(text, stop)))
}
