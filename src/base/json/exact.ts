/**
 * JavaScript objects list keys like `0` or `17` first, in ascending order, whatever their order in JSON text. An object whose
 * text has another order is wrapped in a proxy that lists its keys as the text does, also for `JSON.stringify`.
 */

const MARK = '_'

/** Whether the keys of an object may have had another order in its text: the first of several keys starts with a digit. */
const mayBeReordered = (value: object): boolean => {
  let isFirst = true
  for (const key in value) {
    if (!isFirst) return true
    if (!(key[0]! >= '0' && key[0]! <= '9')) return false
    isFirst = false
  }
  return false
}

/** The index after the closing quote of the string that begins at `start`. */
const endOfString = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text[before] === '\\') before -= 1
    if ((quote - before) % 2 === 1) return quote + 1
  }
}

const isSpace = (character: string | undefined) =>
  character === ' ' || character === '\n' || character === '\t' || character === '\r'

/** Puts a mark before each key of valid JSON text, so that no key looks like a number. */
const markKeys = (text: string): string => {
  const pieces: string[] = []
  let done = 0
  for (let start = text.indexOf('"'); start >= 0;) {
    const end = endOfString(text, start)
    let next = end
    while (isSpace(text[next])) next += 1
    if (text[next] === ':') {
      pieces.push(text.slice(done, start + 1))
      done = start + 1
    }
    start = text.indexOf('"', next)
  }
  pieces.push(text.slice(done))
  return pieces.join(MARK)
}

/** A proxy handler that lists the keys of an object in a given order. */
class KeyOrder implements ProxyHandler<object> {
  readonly #keys: readonly string[]
  constructor(keys: readonly string[]) {
    this.#keys = keys
  }
  ownKeys() {
    return this.#keys
  }
}

/** Orders the keys of a value, at any depth. `marked` is the same value, parsed from the text with marked keys, and has the order of the text. */
const orderAs = (marked: unknown, value: unknown): unknown => {
  if (typeof marked !== 'object' || marked === null) return value
  if (Array.isArray(marked)) {
    const items = value as unknown[]
    for (const [i, item] of marked.entries()) items[i] = orderAs(item, items[i])
    return items
  }
  const members = value as Record<string, unknown>
  const keys: string[] = []
  for (const name in marked) {
    const key = name.slice(MARK.length)
    keys.push(key)
    const member = members[key]
    const ordered = orderAs((marked as Record<string, unknown>)[name], member)
    if (ordered !== member) members[key] = ordered // an own property even if its name is `__proto__`
  }
  return Object.keys(members).some((key, i) => key !== keys[i]) ? new Proxy(members, new KeyOrder(keys)) : members
}

/** Returns `value`, which was parsed from `text`, with the keys of all objects in the order of the text. Changes `value` for that. */
const keepKeyOrder = (text: string, value: unknown): unknown => orderAs(JSON.parse(markKeys(text)), value)

/**
 * Parses JSON without loss: integers beyond 2^53, negative zero, `__proto__` and the order of keys survive. That is rarely
 * needed, so the text is parsed the normal way first, and the result shows whether the slow, exact way is necessary.
 */

/** Whether a number may have another value than its JSON text, or may be written with another text. */
const isSuspect = (value: number): boolean =>
  value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER || Object.is(value, -0)

type Suspicion = { number: boolean; order: boolean }

/** Notes in `found` whether a value contains suspect numbers, or objects whose keys may have another order in the text. */
const findSuspects = (value: unknown, found: Suspicion): void => {
  if (typeof value === 'number') found.number ||= isSuspect(value)
  else if (typeof value !== 'object' || value === null) return
  else if (Array.isArray(value)) for (const item of value) findSuspects(item, found)
  else {
    found.order ||= mayBeReordered(value)
    for (const key in value) findSuspects((value as Record<string, unknown>)[key], found)
  }
}

/** A number in JSON text that is too large for a double. */
export class NumberOutOfRange extends Error {
  override readonly name = 'NumberOutOfRange'
}

const raw = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean }

const isInteger = /^-?\d+$/

/** A reviver for `JSON.parse` that keeps suspect numbers as raw JSON. */
const keepNumbers = (_key: string, value: unknown, context: { source?: string }): unknown => {
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value))
    throw new NumberOutOfRange(`the number ${context.source?.slice(0, 40)} is too large for a double`)
  if (Object.is(value, -0)) return raw.rawJSON('-0')
  if (Number.isSafeInteger(value) || !context.source || !isInteger.test(context.source)) return value
  return raw.rawJSON(context.source)
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown

/**
 * Parses JSON text. Numbers that doubles cannot hold are returned as raw JSON, which `JSON.stringify` writes unchanged.
 * @throws SyntaxError if the text is not JSON
 * @throws NumberOutOfRange for a number such as 1e400
 * @throws RangeError if the value is nested too deeply for the stack
 */
export const parseExact = (text: string): unknown => {
  const plain: unknown = JSON.parse(text)
  const found = { number: false, order: false }
  findSuspects(plain, found)
  // With a reviver `JSON.parse` defines `__proto__` as an own property; an assignment would set the prototype instead.
  const value: unknown = found.number ? JSON.parse(text, keepNumbers as Reviver) : plain
  return found.order ? keepKeyOrder(text, value) : value
}

/** Whether a value is raw JSON: a number that only its text can hold. */
export const isRawNumber = (value: unknown): boolean => raw.isRawJSON(value)

/** Whether a value is the raw JSON of negative zero. */
export const isNegativeZero = (value: unknown): boolean =>
  isRawNumber(value) && (value as { rawJSON: string }).rawJSON === '-0'

/** Whether objects and lists are nested in a value more than `limit` levels deep. */
export const isDeeperThan = (value: unknown, limit: number): boolean => {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false
  if (limit <= 0) return true
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (isDeeperThan(item, limit - 1)) return true
  return false
}

/** Whether a text holds NUL, which PostgreSQL cannot store, or a lone surrogate, which UTF-8 cannot encode. */
export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed()
