export type Json = Readonly<Record<string, unknown>>

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown

// TypeScript's library does not have the source text access of ES2026 yet.
const native = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown
  readonly parse: (text: string, reviver: Reviver) => unknown
}

/** Matches texts with numbers that `JSON.parse` may change: integers beyond 2^53, negative zero, huge exponents. */
const inexact = /[:,[]\s*(?:-?\d{16}|-0[\s,}\].eE]|-?\d[\d.]*[eE]\+?\d{3})/

// A number that overflows becomes text, because the service would refuse the whole message for it.
const exactly: Reviver = (_key, value, { source }) => {
  if (typeof value !== 'number' || source === undefined) return value
  if (!Number.isFinite(value)) return source
  if (Object.is(value, -0)) return native.rawJSON('-0')
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
    ? native.rawJSON(source)
    : value
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses one JSON object, with exact numbers; undefined if `text` is anything else. */
export const parseObject = (text: string): Json | undefined => {
  try {
    const value: unknown = inexact.test(text) ? native.parse(text, exactly) : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `value` where it is a string that is not blank, else undefined. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** `value` where it is an object, else an empty object, so that all of its properties are undefined. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {})

/** The objects in a list; empty if `value` is not a list. */
export const objectsIn = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** The milliseconds of an RFC 3339 string; undefined for anything else. */
export const millisecondsOf = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(time) ? undefined : time
}
