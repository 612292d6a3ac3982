import { keepKeyOrder, mayBeReordered } from './key-order.ts'

/**
 * JSON that loses nothing: integers beyond 2^53, negative zero, `__proto__` and key order survive.
 * What needs it is rare, so a look at the parsed value decides whether the slow, exact way is needed at all.
 */

/** Whether a number may be another one than its text says, or would be written as another one. */
const isSuspect = (value: number): boolean =>
  value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER || Object.is(value, -0)

type Suspicion = { number: boolean; order: boolean }

/** Looks whether a value holds what may have been another one in its text. */
const suspect = (value: unknown, found: Suspicion): void => {
  if (typeof value === 'number') found.number ||= isSuspect(value)
  else if (typeof value !== 'object' || value === null) return
  else if (Array.isArray(value)) for (const item of value) suspect(item, found)
  else {
    found.order ||= mayBeReordered(value)
    for (const key in value) suspect((value as Record<string, unknown>)[key], found)
  }
}

/** A number that no double can hold. */
export class NumberOutOfRange extends Error {
  override readonly name = 'NumberOutOfRange'
}

const raw = JSON as unknown as { rawJSON(text: string): object; isRawJSON(value: unknown): boolean }

const isInteger = /^-?\d+$/

const keep = (_key: string, value: unknown, context: { source?: string }): unknown => {
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw new NumberOutOfRange(`no double holds ${context.source?.slice(0, 40)}`)
  if (Object.is(value, -0)) return raw.rawJSON('-0')
  if (Number.isSafeInteger(value) || !context.source || !isInteger.test(context.source)) return value
  return raw.rawJSON(context.source)
}

type Reviver = (this: unknown, key: string, value: unknown) => unknown

/**
 * Parses JSON text; what doubles cannot hold comes back as raw JSON, which `JSON.stringify` writes as it came.
 * @throws SyntaxError when it is no JSON
 * @throws NumberOutOfRange for a number such as 1e400
 * @throws RangeError when it is nested deeper than the stack
 */
export const parseExact = (text: string): unknown => {
  const plain: unknown = JSON.parse(text)
  const found = { number: false, order: false }
  suspect(plain, found)
  // A reviver drops nothing, but assigning to `__proto__` would: define it as the own property that it is.
  const value: unknown = found.number ? JSON.parse(text, keep as Reviver) : plain
  return found.order ? keepKeyOrder(text, value) : value
}

/** Whether a value stands for a number that only its text can hold. */
export const isRawNumber = (value: unknown): boolean => raw.isRawJSON(value)

/** A zero whose sign only its text holds. */
export const isNegativeZero = (value: unknown): boolean =>
  isRawNumber(value) && (value as { rawJSON: string }).rawJSON === '-0'

/** How deep objects and lists are nested in a value, counted up to `limit`. */
export const isDeeperThan = (value: unknown, limit: number): boolean => {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return false
  if (limit <= 0) return true
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (isDeeperThan(item, limit - 1)) return true
  return false
}

/** Text in which Postgres and UTF-8 would lose something: NUL or half a surrogate pair. */
export const isUnstorable = (text: string): boolean => text.includes('\0') || !text.isWellFormed()
