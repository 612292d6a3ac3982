import { DAY_QUARTERS, QUARTER_MS } from '../../tables/usage.ts'

/** The quarters of an hour of a period, the last one not included. */
export type Period = { readonly from: number; readonly to: number }

/** A date of a time zone, and the first of its quarters in the period. */
type Day = { readonly date: string; readonly from: number }

/** No day has more quarters, not even one on which clocks go back by three hours. */
const MOST_QUARTERS = 108

/** The whole quarters of an hour around a period, in milliseconds. */
export const periodOf = (fromMs: number, toMs: number): Period => ({
  from: Math.floor(fromMs / QUARTER_MS),
  to: Math.ceil(toMs / QUARTER_MS),
})

/** The dates of a period in a time zone. A quarter of an hour is of the date with which it begins. */
export const daysOf = ({ from, to }: Period, timeZone: string): Day[] => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const dateOf = (quarter: number) => format.format(quarter * QUARTER_MS)
  /** The first quarter of the next date. */
  const endOf = (date: string, start: number): number => {
    if (dateOf(start + DAY_QUARTERS - 1) === date && dateOf(start + DAY_QUARTERS) !== date) return start + DAY_QUARTERS
    let [last, next] = [start, start + MOST_QUARTERS]
    while (next - last > 1) {
      const middle = (last + next) >> 1
      if (dateOf(middle) === date) last = middle
      else next = middle
    }
    return next
  }
  const days: Day[] = []
  for (let start = from; start < to;) {
    const date = dateOf(start)
    days.push({ date, from: start })
    start = endOf(date, start)
  }
  return days
}
