import { type Html, markup } from '../../transcript/html/markup.ts'

const DAY_MS = 86_400_000
/** A day of an earlier year is shown with its year if it is at least so many days ago. */
const MANY_DAYS = 180

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })

const weekday = format({ weekday: 'long' })
const dayAndMonth = format({ day: 'numeric', month: 'long' })
const short = format({ day: 'numeric', month: 'short' })
const shortWithYear = format({ day: 'numeric', month: 'short', year: 'numeric' })
const whole = format({ day: 'numeric', month: 'long', year: 'numeric' })

/** The day of a time in UTC, and its heading in a list that is read at `now`; both in milliseconds since 1970. */
export const dayOf = (time: number, now: number): { readonly key: string; readonly heading: Html } => {
  const key = new Date(time).toISOString().slice(0, 10)
  const ago = Math.floor(now / DAY_MS) - Math.floor(time / DAY_MS)
  const isThisYear = key.startsWith(new Date(now).toISOString().slice(0, 4))
  const date = (isThisYear || (ago >= 0 && ago < MANY_DAYS) ? dayAndMonth : whole).format(time)
  const name = ['Today', 'Yesterday'][ago] ?? weekday.format(time)
  const heading =
    ago >= 0 && ago < 7
      ? markup`${name} <small>${ago < 2 ? `${weekday.format(time)} ` : ''}${date}</small>`
      : markup`${date}`
  return { key, heading }
}

const yearOf = (time: number): number => new Date(time).getUTCFullYear()

/** A time in the margin of a list that has no days: the time of day if it was today, else the day; in UTC. */
export const shortDay = (time: number, now: number): string => {
  if (Math.floor(time / DAY_MS) === Math.floor(now / DAY_MS)) return new Date(time).toISOString().slice(11, 16)
  return (yearOf(time) === yearOf(now) ? short : shortWithYear).format(time)
}

const moment = format({ day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })

/** A time with its day, in UTC. */
const dayAndTime = (time: number): string => moment.format(time)

/** A time with its day, which scripts show in the zone of the reader. */
export const timeHtml = (time: number): Html =>
  markup`<time datetime="${new Date(time).toISOString()}" data-shows="day-and-time">${dayAndTime(time)} UTC</time>`

/** The day of a time, or the time of day if it was today; scripts show it in the zone of the reader. */
export const dayHtml = (time: number, now: number): Html =>
  markup`<time datetime="${new Date(time).toISOString()}" data-shows="day">${shortDay(time, now)}</time>`
