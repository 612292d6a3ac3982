import { keepKeyOrder, mayBeReordered } from './key-order.ts'

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
