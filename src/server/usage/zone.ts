import { QUARTER_MS } from '../../tables/usage.ts'
import type { Period } from './days.ts'

/** By how many quarters of an hour the clocks of a zone are ahead of UTC, from a quarter on. */
export type Offset = { readonly from: number; readonly quarters: number }

const DAY_QUARTERS = 96

/** What the clocks of a time zone say in a period: first of all at its beginning, then whenever they are changed. */
export const zoneOffsets = ({ from, to }: Period, timeZone: string): Offset[] => {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const offsetAt = (quarter: number): number => {
    const [, sign, hours = '0', minutes = '0'] =
      /GMT(?:([+-])(\d\d):(\d\d))?/.exec(format.format(quarter * QUARTER_MS)) ?? []
    return (sign === '-' ? -1 : 1) * (Number(hours) * 4 + Math.floor(Number(minutes) / 15))
  }
  const offsets: Offset[] = [{ from, quarters: offsetAt(from) }]
  for (let start = from; start < to; start += DAY_QUARTERS) {
    const before = offsets.at(-1)!.quarters
    let [last, next] = [start, Math.min(start + DAY_QUARTERS, to)]
    const quarters = offsetAt(next)
    if (quarters === before) continue
    while (next - last > 1) {
      const middle = (last + next) >> 1
      if (offsetAt(middle) === before) last = middle
      else next = middle
    }
    offsets.push({ from: next, quarters })
  }
  return offsets
}
