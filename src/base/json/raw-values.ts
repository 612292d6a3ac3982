/** Reads valid JSON text without parsing it: its values are slices of the text, so that numbers, the order of keys and `__proto__` stay as written. */

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Whether the quote at this index belongs to the string, because an odd number of backslashes is before it. */
const isEscaped = (text: string, quote: number): boolean => {
  let before = quote - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (quote - before) % 2 === 0
}

/** Whether a number, or a word such as `true`, ends before a character with this code; `0x20` is the space. */
const isEnd = (code: number) => code === COMMA || code === CLOSE_LIST || code === CLOSE_OBJECT || code <= 0x20

/** Looks for the end of a value, a limited number of characters at a time. */
class EndSearch {
  readonly #text: string
  #offset: number
  #depth = 0
  #isInString = false
  constructor(text: string, start: number) {
    this.#text = text
    this.#offset = start
  }

  /** The index after the value; undefined if it is not found within about `most` more characters. */
  advance(most: number): number | undefined {
    const limit = this.#offset + most
    while (this.#offset < this.#text.length) {
      if (this.#offset >= limit) return undefined
      if (this.#isInString ? this.#passCharacter() : this.#passToken()) break
    }
    return this.#offset
  }

  /** Moves behind a string or a character outside of strings. Returns whether the value ends there. */
  #passToken(): boolean {
    const code = this.#text.charCodeAt(this.#offset)
    if (code === QUOTE) return this.#passString()
    if (this.#depth === 0 && isEnd(code)) return true // the end of a number or of a word such as `true`
    this.#offset += 1
    if (code === OPEN_LIST || code === OPEN_OBJECT) this.#depth += 1
    if (code !== CLOSE_LIST && code !== CLOSE_OBJECT) return false
    this.#depth -= 1
    return this.#depth === 0
  }

  /** Moves behind the next quote. Returns whether the value ends there. */
  #passString(): boolean {
    const text = this.#text
    const quote = text.indexOf('"', this.#offset + 1)
    this.#offset = quote < 0 ? text.length : quote + 1
    // If this quote is escaped, `#passCharacter` reads the rest of the string character by character: a string with one escaped quote often has
    // many, and for each of them `isEscaped` would look back over its backslashes.
    this.#isInString = quote >= 0 && isEscaped(text, quote)
    return !this.#isInString && this.#depth === 0
  }

  /** Moves behind one character of a string. Returns whether the value ends there. */
  #passCharacter(): boolean {
    const code = this.#text.charCodeAt(this.#offset)
    this.#offset += code === BACKSLASH ? 2 : 1
    this.#isInString = code !== QUOTE
    return !this.#isInString && this.#depth === 0
  }
}

/** The index of the next character other than white space, comma and colon. */
const nextValue = (text: string, from: number): number => {
  let i = from
  for (; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x20 && code !== COMMA && code !== COLON) return i
  }
  return i
}

const isClosed = (text: string, offset: number): boolean => {
  const code = text.charCodeAt(offset)
  return offset >= text.length || code === CLOSE_LIST || code === CLOSE_OBJECT
}

/** A member of an object: its key, and its value as JSON text. */
type RawMember = { readonly key: string; readonly value: string }

/** How many characters are read in a step, after which a caller may let other work of the process run. */
const STEP = 256 * 1024

/** Finds the index after the value that begins at `start`. Yields undefined after each step in which it was not found. */
function* endOf(text: string, start: number, step: number): Generator<undefined, number> {
  const search = new EndSearch(text, start)
  for (;;) {
    const end = search.advance(step)
    if (end !== undefined) return end
    yield undefined
  }
}

function* members(text: string, step: number): Generator<RawMember | undefined, void> {
  const start = nextValue(text, 0)
  if (text.charCodeAt(start) !== OPEN_OBJECT) return
  for (let offset = nextValue(text, start + 1); !isClosed(text, offset);) {
    const keyEnd = yield* endOf(text, offset, step)
    const key = JSON.parse(text.slice(offset, keyEnd)) as string
    offset = nextValue(text, keyEnd)
    const end = yield* endOf(text, offset, step)
    yield { key, value: text.slice(offset, end) }
    offset = nextValue(text, end)
  }
}

function* items(text: string, step: number): Generator<string | undefined, void> {
  const start = nextValue(text, 0)
  if (text.charCodeAt(start) !== OPEN_LIST) return
  for (let offset = nextValue(text, start + 1); !isClosed(text, offset);) {
    const end = yield* endOf(text, offset, step)
    yield text.slice(offset, end)
    offset = nextValue(text, end)
  }
}

/** The members of an object in the order of its text; none for any other value. */
export const rawMembers = (text: string) => members(text, Infinity) as Generator<RawMember, void>

/** The items of a list; none for any other value. */
export const rawItems = (text: string) => items(text, Infinity) as Generator<string, void>

/** Like `rawMembers`, in steps that are short even if the text is long: yields undefined after a step that has found no member. */
export const rawMembersInSteps = (text: string) => members(text, STEP)
/** Like `rawItems`, in steps that are short even if the text is long: yields undefined after a step that has found no item. */
export const rawItemsInSteps = (text: string) => items(text, STEP)

const isNumberStart = (code: number) => code === 0x2d || (code >= 0x30 && code <= 0x39)

/** The index after a string that begins at a quote. */
const stringEnd = (text: string, quote: number): number => {
  for (let i = quote + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) return i + 1
    if (code === BACKSLASH) i += 1
  }
  return text.length
}

/** The code of the next character other than white space. */
const nextCode = (text: string, from: number): number => {
  let i = from
  while (text.charCodeAt(i) <= 0x20) i += 1
  return text.charCodeAt(i)
}

/**
 * All strings and numbers in a JSON value, at any depth, except the keys of objects. Works in short steps, like `rawItemsInSteps`:
 * undefined after a step that has found nothing.
 */
export function* rawLeaves(text: string): Generator<string | undefined, void> {
  let stepStart = 0
  for (let i = 0; i < text.length;) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      const end = stringEnd(text, i)
      if (nextCode(text, end) !== COLON) yield text.slice(i, end)
      i = end
    } else if (isNumberStart(code)) {
      const start = i
      while (i < text.length && !isEnd(text.charCodeAt(i))) i += 1
      yield text.slice(start, i)
    } else i += 1
    if (i - stepStart < STEP) continue
    stepStart = i
    yield undefined
  }
}
