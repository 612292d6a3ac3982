import type { Finder } from './finding.ts'
import { isPlaceholder } from './placeholder.ts'

/** Names such as `API_KEY`, `clientSecret` or `--password`, by what they contain. */
const names =
  /secret|token|passw(?:or)?d|passphrase|(?:api|access|private|signing|encryption|auth)[-_]?key|credential|bearer/gi
/** What stands between such a name and its value, in code, JSON, YAML, shell or a header. */
const assignment =
  /(?:[-_][A-Za-z0-9]{1,20}){0,2}["'`\\]{0,4}[ \t]{0,4}(?::=|=>|=|:|[ \t](?=["']))[ \t]{0,4}["'`\\]{0,4}/y
const value = /[A-Za-z0-9+/_=.~!@#%^&*-]{16,256}(?![A-Za-z0-9+/_=~(])/y

/** Bits for each character, of how often each occurs: about 4 for random base64 of 24 characters, below 3.3 for most words. */
const entropyOf = (text: string): number => {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const hex = /^[0-9a-f]+$/i
/** Code rather than a value: a call, a member, a path, a name of several words. */
const code =
  /^[A-Za-z_$][\w$]*(?:[.][A-Za-z_$][\w$]*)+$|^[a-z]+(?:[-_/.][a-z]+)+$|^[A-Z]+(?:_[A-Z]+)*$|^\.{0,2}\/|^[a-z]+(?:[A-Z][a-z]+)+$/

const isRandom = (value: string): boolean => {
  if (isPlaceholder(value) || uuid.test(value) || code.test(value)) return false
  const kinds = [/[a-z]/, /[A-Z]/, /[0-9]/].filter((kind) => kind.test(value)).length
  if (hex.test(value)) return value.length >= 32 && kinds >= 2 && entropyOf(value) > 3
  return kinds >= 2 && /[0-9]/.test(value) && entropyOf(value) > 3.5
}

/** The value that follows a name which ends at `index`. */
const valueAfter = (text: string, index: number): { readonly start: number; readonly end: number } | undefined => {
  assignment.lastIndex = index
  if (!assignment.test(text)) return undefined
  value.lastIndex = assignment.lastIndex
  return value.test(text) ? { start: assignment.lastIndex, end: value.lastIndex } : undefined
}

/** High-entropy values that are assigned to secret-looking names. */
export const findAssigned: Finder = (text) =>
  [...text.matchAll(names)].flatMap(({ 0: name, index }) => {
    const found = valueAfter(text, index + name.length)
    return found && isRandom(text.slice(found.start, found.end)) ? [{ rule: 'secret-value', ...found }] : []
  })
