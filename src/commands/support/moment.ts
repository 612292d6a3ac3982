import { InvalidArgumentError } from 'commander'

const SPANS: { readonly [unit: string]: number } = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

/** Midnight of a day in the local zone; undefined for a day that there is not. */
const midnight = (year: number, month: number, day: number, daysLater: number): number | undefined => {
  const date = new Date(year, month - 1, day)
  if (date.getMonth() !== month - 1) return undefined
  return new Date(year, month - 1, day + daysLater).getTime()
}

/** `daysLater`: how many midnights behind that of a day without a time is meant. */
const parse = (text: string, now: number, daysLater: 0 | 1): number | undefined => {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  if (unit !== undefined) return now - Number(count) * SPANS[unit]!
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (day !== undefined) return midnight(Number(year), Number(month), Number(day), daysLater)
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/i.test(text)
  const ms = isTime ? Date.parse(text) : NaN
  return Number.isNaN(ms) ? undefined : ms
}

const momentOf = (text: string, now: number, daysLater: 0 | 1): number => {
  const moment = parse(text, now, daysLater)
  if (moment === undefined)
    throw new InvalidArgumentError(
      'It must be a day such as 2026-01-31, a time such as 2026-01-31T15:04, or a span up to now such as 12h, 7d or 4w.',
    )
  return moment
}

/** The first moment of what is said in a command line, in milliseconds: a day without a time begins at its midnight here. */
export const beginningOf = (text: string, now = Date.now()): number => momentOf(text, now, 0)

/** The moment behind the last: a day without a time is meant to its end. */
export const endOf = (text: string, now = Date.now()): number => momentOf(text, now, 1)
