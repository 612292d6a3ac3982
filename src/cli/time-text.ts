const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number): string => String(value).padStart(2, '0')

/** A time in milliseconds; a number that was parsed exactly may be raw JSON, of which no date can be made. */
const dateOf = (ms: number): Date => new Date(Number(JSON.stringify(ms)))

const dayText = (date: Date): string => `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`

/** The day of a time in milliseconds, in the local zone: `Feb 21, 2027`; undefined for a number that is none. */
export const shortDay = (ms: number): string | undefined => {
  const date = dateOf(ms)
  return Number.isNaN(date.getTime()) ? undefined : dayText(date)
}

/**
 * A time in milliseconds as people are shown it, in the local zone: `Feb 21, 2027, 19:41`; a number that is none as it is. What is to be
 * read exactly, such as a log in a file, has `localTime`.
 */
export const shortTime = (ms: number): string => {
  const date = dateOf(ms)
  if (Number.isNaN(date.getTime())) return JSON.stringify(ms)
  return `${dayText(date)}, ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The last time that there is, a day earlier, so that it is one in every zone. */
const MAX_TIME = 8.64e15 - 24 * 60 * 60_000

/** A time in milliseconds as ISO 8601 in the local zone, such as `2026-01-02T15:04:05.123+01:00`; one that is none as it is. */
export const localTime = (ms: number): string => {
  // A number that was parsed exactly may be raw JSON, of which no date can be made.
  const value = Number(JSON.stringify(ms))
  if (!(Math.abs(value) <= MAX_TIME)) return JSON.stringify(ms)
  const date = new Date(value)
  const offset = -date.getTimezoneOffset()
  const zone = `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
  return `${new Date(value + offset * 60_000).toISOString().slice(0, -1)}${zone}`
}

/** `h:mm:ss`, or `m:ss` below an hour. */
export const durationText = (seconds: number): string => {
  const whole = Math.round(seconds)
  const [h, m, s] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60), whole % 60]
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`
}

/** A span in words, such as `10 seconds` or `2 minutes`. */
export const spanText = (ms: number): string =>
  ms >= 120_000 && ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${Math.ceil(ms / 1_000)} seconds`
