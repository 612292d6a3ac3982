const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number): string => String(value).padStart(2, '0')

/** A time in milliseconds may be raw JSON of an exact parser, from which no date can be made. */
const dateOf = (ms: number): Date => new Date(Number(JSON.stringify(ms)))

const dayText = (date: Date): string => `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`

/** The day of a time in milliseconds, in the local time zone: `Feb 21, 2027`; undefined for an invalid time. */
export const shortDay = (ms: number): string | undefined => {
  const date = dateOf(ms)
  return Number.isNaN(date.getTime()) ? undefined : dayText(date)
}

/**
 * A time in milliseconds for people, in the local time zone: `Feb 21, 2027, 19:41`; an invalid time is shown as its number. For exact
 * times, as in a log file, use `localTime`.
 */
export const shortTime = (ms: number): string => {
  const date = dateOf(ms)
  if (Number.isNaN(date.getTime())) return JSON.stringify(ms)
  return `${dayText(date)}, ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The latest valid time, minus a day, so that it is valid in every time zone. */
const MAX_TIME = 8.64e15 - 24 * 60 * 60_000

/** A time in milliseconds as ISO 8601 in the local time zone, such as `2026-01-02T15:04:05.123+01:00`; an invalid time as its number. */
export const localTime = (ms: number): string => {
  const date = dateOf(ms)
  const value = date.getTime()
  if (!(Math.abs(value) <= MAX_TIME)) return JSON.stringify(ms)
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  return `${new Date(value + offset * 60_000).toISOString().slice(0, -1)}${zone}`
}

/** Seconds as a clock shows them: `h:mm:ss`, or `m:ss` below an hour. For a time in words use `sessionLengthText`. */
export const clockText = (seconds: number): string => {
  const whole = Math.round(seconds)
  const [h, m, s] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** A timeout in words, such as `10 seconds` or `2 minutes`. */
export const timeoutText = (ms: number): string =>
  ms >= 120_000 && ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1_000)} seconds`

/** The time zone of this machine, by its IANA name. */
export const localTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
