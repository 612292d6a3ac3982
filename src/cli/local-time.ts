/** The last time that there is, a day earlier, so that it is one in every zone. */
const MAX_TIME = 8.64e15 - 24 * 60 * 60_000

const two = (value: number): string => String(value).padStart(2, '0')

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
