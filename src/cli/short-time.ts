const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number): string => String(value).padStart(2, '0')

/** A time in milliseconds for a list, in the local zone: `Nov 22 20:45` in the year of `now`, else `2025-11-22`. */
export const shortTime = (ms: number, now: number): string => {
  const [date, today] = [new Date(ms), new Date(now)]
  if (Number.isNaN(date.getTime())) return '-'
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()]
  if (year !== today.getFullYear()) return `${year}-${two(month + 1)}-${two(day)}`
  return `${MONTHS[month]} ${String(day).padStart(2)} ${two(date.getHours())}:${two(date.getMinutes())}`
}
