import { USED_VALUES } from '../../tables/usage-days.ts'
import { type Priced, type PricedAs, type Used, usageOf } from './sums.ts'
import { under } from './under.ts'

/** What messages come to: how many there are, in which traces, by the numbers of these, and what they have used. */
export type Added = { messages: number; readonly traces: Set<number>; readonly used: Used }

export const newAdded = (): Added => ({ messages: 0, traces: new Set(), used: new Map() })

export const addMessages = (to: Added, trace: number, messages: number): void => {
  to.messages += messages
  to.traces.add(trace)
}

/** Gives each trace a number, which is added to a set in less time than its id. */
export const newNumbers = () => {
  const numbers = new Map<string, number>()
  return (id: string): number => under(numbers, id, () => numbers.size)
}

/** Messages of a trace with one model, price and kind of usage: what they have used begins at an index of the values. */
type EachUsed = (priced: Priced, values: readonly unknown[], at: number, messages: number) => void

const NOTHING: readonly number[] = Array.from({ length: USED_VALUES }, () => 0)

/**
 * Calls `each` for the messages in `used` of `usage_days`, whose trace has a model, or none; and for the rest of its messages, which have neither a
 * model nor usage.
 */
export const eachUsed = (
  values: readonly unknown[],
  ofTrace: string | null,
  messages: number,
  pricedAs: PricedAs,
  each: EachUsed,
): void => {
  let rest = messages
  for (let at = 0; at < values.length; at += USED_VALUES) {
    const model = (values[at] ?? ofTrace ?? undefined) as string | undefined
    const count = values[at + 3] as number
    each(pricedAs(model, values[at + 1] as number, values[at + 2] as number), values, at + 4, count)
    rest -= count
  }
  if (rest > 0) each(pricedAs(ofTrace ?? undefined, 0, 0), NOTHING, 0, rest)
}

/** The sums as answers have them. */
export const sumsOf = (traces: number, { messages, used }: Omit<Added, 'traces'>) => ({
  traces,
  messages,
  ...usageOf(used),
})
