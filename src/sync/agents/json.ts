export type Json = Readonly<Record<string, unknown>>

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown

// TypeScript's library does not know the source text access of ES2026 yet.
const native = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown
  readonly parse: (text: string, reviver: Reviver) => unknown
}

/** Where a number stands that a plain JSON.parse may alter: a long integer, negative zero, a huge exponent. */
const inexact = /[:,[]\s*(?:-?\d{16}|-0[\s,}\].eE]|-?\d[\d.]*[eE]\+?\d{3})/

// What no double can hold becomes text: the service would refuse it, and with it the whole message.
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

/** The JSON object that `text` holds, numbers kept exactly; undefined when it is not just one object. */
export const parseObject = (text: string): Json | undefined => {
  try {
    const value: unknown = inexact.test(text) ? native.parse(text, exactly) : JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** `value` when it is a string with more than whitespace in it. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** `value` when it is an object, else an empty one: for reaching into what may be absent. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {})

/** An RFC 3339 string in milliseconds; undefined when it is none. */
export const millisecondsOf = (value: unknown): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(time) ? undefined : time
}
