import { InvalidArgumentError } from 'commander'
import { SHORT_TEXT, isLongerThan } from '../../base/texts.ts'

// Parsers of what is given to options and arguments. Each throws InvalidArgumentError.

/** A whole number from 0 on, of at most so many digits. */
export const wholeNumber =
  (digits: number) =>
  (text: string): number => {
    if (!/^\d+$/.test(text) || text.length > digits)
      throw new InvalidArgumentError(`It must be a whole number from 0 on, of at most ${digits} digits.`)
    return Number(text)
  }

/** A position in the log. */
export const logPosition = (text: string): bigint => {
  if (!/^[1-9]\d{0,18}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 on, of at most 19 digits.')
  return BigInt(text)
}

/** A text without the spaces around it. */
export const someText = (text: string): string => {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text.trim()
}

/** A name of a user or a device, without the spaces around it. */
export const shortName = (text: string): string => {
  const name = someText(text)
  if (isLongerThan(name, SHORT_TEXT)) throw new InvalidArgumentError(`It must have at most ${SHORT_TEXT} characters.`)
  return name
}

/** For an option that may be repeated. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

const SPANS: { readonly [unit: string]: number } = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/** Midnight in the local time zone at the beginning of a day, or days later; undefined for a date that does not exist. */
const midnight = (year: number, month: number, day: number, daysLater: number): number | undefined => {
  const date = new Date(year, month - 1, day)
  if (date.getMonth() !== month - 1) return undefined
  return new Date(year, month - 1, day + daysLater).getTime()
}

/** `daysLater`: 0 for the beginning of a day that is given without a time, 1 for its end. */
const parseTime = (text: string, now: number, daysLater: 0 | 1): number | undefined => {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (unit !== undefined) return now - Number(count) * SPANS[unit]!
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (day !== undefined) return midnight(Number(year), Number(month), Number(day), daysLater)
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/i.test(text)
  const ms = isTime ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? undefined : ms
}

const timeFrom = (text: string, now: number, daysLater: 0 | 1): number => {
  const time = parseTime(text, now, daysLater)
  if (time === undefined)
    throw new InvalidArgumentError(
      'It must be a date such as 2026-01-31, a time such as 2026-01-31T15:04, or an age such as 12h, 7d or 4w.',
    )
  return time
}

/** A time in milliseconds; a date without a time means its first moment in the local time zone. */
export const startTime = (text: string, now = Date.now()): number => timeFrom(text, now, 0)

/** A time in milliseconds; a date without a time means its end, the next midnight. */
export const endTime = (text: string, now = Date.now()): number => timeFrom(text, now, 1)
