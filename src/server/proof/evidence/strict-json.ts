/**
 * Reads JSON so that all verifiers of an evidence file agree: libraries differ in what they make of a member that stands twice, of `1.0`, of a lone surrogate,
 * and of very many brackets. `../../../commands/audit/README.md` states the rules, for verifiers in other languages, too.
 */

/** How many lists and objects may be around a value. */
const MOST_DEPTH = 1_000

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The index of the closing quote of the string that begins at `start`. */
const closingQuote = (text: string, start: number): number => {
  let i = start + 1
  for (; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i += 1
  return i
}

/** The number of members in JSON text. @throws SyntaxError if it is nested too deep */
const countMembers = (text: string): number => {
  let [count, depth] = [0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    else if (depth > MOST_DEPTH && code > 0x20)
      throw new SyntaxError(`it is nested more than ${MOST_DEPTH} levels deep`)
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    if (code === QUOTE) i = closingQuote(text, i)
    if (code === COLON) count += 1
  }
  return count
}

const isWhole = /^(?:0|[1-9]\d{0,15})$/

/**
 * The value of JSON text. In strings a lone surrogate is U+FFFD; a number that is not written with digits alone is NaN.
 * @throws SyntaxError if it is not JSON, is nested too deep, or has an object with a member twice
 */
export const parseStrictly = (text: string): unknown => {
  const members = countMembers(text)
  let found = 0
  const read = (_: string, value: unknown, { source = '' }: { source?: string }): unknown => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number') return isWhole.test(source) ? value : NaN
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      found += new Set(Object.keys(value).map((name) => name.toWellFormed())).size
    return value
  }
  const value: unknown = JSON.parse(text, read as Parameters<typeof JSON.parse>[1])
  if (found < members) throw new SyntaxError('an object has a member twice')
  return value
}
