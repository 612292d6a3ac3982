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
