import { aTime } from '../../contract/parameters.ts'

/** By what clock the times of a query are read: the present time, in milliseconds since 1970, and the IANA time zone of its days. */
export type QueryClock = { readonly now: number; readonly zone: string }

/** A span of time, in milliseconds since 1970; both ends are inclusive. */
type Span = { readonly from: number; readonly to: number }

const DAY_MS = 86_400_000
const Moment = aTime('')
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const AGO = /^(\d{1,4})(h|d|w)$/
const UNIT_MS = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS } as const

/** By how many milliseconds the clocks of a zone are ahead of UTC at a moment. */
const offsetAt = (moment: number, zone: string): number => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(format.format(moment)) ?? []
  return (sign === '-' ? -1 : 1) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
}

/** When a day begins in a zone: `day` is its beginning in UTC. Where the clocks skip midnight, when they have done so; for a day that they skip, after it. */
const beginningOf = (day: number, zone: string): number => {
  const found = [day - DAY_MS, day + DAY_MS].map((at) => day - offsetAt(at, zone)).sort((a, b) => a - b)
  return found.find((at) => dayOf(at, zone) === day) ?? found.at(-1)!
}

const spanOfDay = (day: number, zone: string): Span => ({
  from: beginningOf(day, zone),
  to: beginningOf(day + DAY_MS, zone) - 1,
})

/** The day of a moment in a zone, as its beginning in UTC. */
const dayOf = (moment: number, zone: string): number => {
  const local = moment + offsetAt(moment, zone)
  return local - (((local % DAY_MS) + DAY_MS) % DAY_MS)
}

const dayOfDate = (text: string): number | undefined => {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return undefined
  const start = Date.UTC(Number(year), Number(month) - 1, Number(day))
  return new Date(start).toISOString().startsWith(text) ? start : undefined
}

const moment = (at: number): Span => ({ from: at, to: at })

/**
 * The span of a time as people type it: a day (`2026-05-06`, `today`, `yesterday`), so many hours, days or weeks ago (`7d`), or a moment as the API takes it.
 * Undefined for any other text.
 */
export const spanIn = (text: string, { now, zone }: QueryClock): Span | undefined => {
  if (text === 'today') return spanOfDay(dayOf(now, zone), zone)
  if (text === 'yesterday') return spanOfDay(dayOf(now, zone) - DAY_MS, zone)
  const day = dayOfDate(text)
  if (day !== undefined) return spanOfDay(day, zone)
  const [, count, unit] = AGO.exec(text) ?? []
  if (unit !== undefined) return moment(now - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS])
  const { data: at } = Moment.safeParse(text)
  return at === undefined ? undefined : moment(at)
}

/** What `spanIn` takes, for people. */
export const TIMES = 'a day such as 2026-05-06, yesterday, 7d, or 2026-05-06T12:00:00Z'
