import { type Html, markup } from '../transcript/html/markup.ts'

const DAY_MS = 86_400_000

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })

const weekday = format({ weekday: 'long' })
const dayAndMonth = format({ day: 'numeric', month: 'long' })
const whole = format({ day: 'numeric', month: 'long', year: 'numeric' })

/** The day of a time, in UTC, and how it is called at `now`; both in milliseconds since 1970. */
export const dayOf = (time: number, now: number): { readonly key: string; readonly heading: Html } => {
  const key = new Date(time).toISOString().slice(0, 10)
  const ago = Math.floor(now / DAY_MS) - Math.floor(time / DAY_MS)
  const isThisYear = key.startsWith(new Date(now).toISOString().slice(0, 4))
  const date = (isThisYear || (ago >= 0 && ago < 180) ? dayAndMonth : whole).format(time)
  const name = ago === 0 ? 'Today' : ago === 1 ? 'Yesterday' : weekday.format(time)
  const heading =
    ago >= 0 && ago < 7
      ? markup`${name} <small>${ago < 2 ? `${weekday.format(time)} ` : ''}${date}</small>`
      : markup`${date}`
  return { key, heading }
}
