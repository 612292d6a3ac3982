import { USED_VALUES } from '../../tables/usage-days.ts'
import type { KnownModels } from '../models/registry.ts'
import { type Priced, type Used, type newPriced, addUsed, usageOf } from './sums.ts'

/** What messages come to: in how many traces they are, by the numbers of these, and what they have used. */
export type Added = { messages: number; readonly traces: Set<number>; readonly used: Used }

export const newAdded = (): Added => ({ messages: 0, traces: new Set(), used: new Map() })

/** What is under a key, from now on if there was nothing. */
export const under = <Key, Value>(byKey: Map<Key, Value>, key: Key, start: () => Value): Value => {
  let value = byKey.get(key)
  if (value === undefined) byKey.set(key, (value = start()))
  return value
}

export const addMessages = (to: Added, trace: number, messages: number): void => {
  to.messages += messages
  to.traces.add(trace)
}

/** Messages of a trace with one model, price and kind of usage: what they have used begins at an index of the values. */
type EachUsed = (priced: Priced, values: readonly unknown[], at: number, messages: number) => void

/**
 * Calls `each` for the messages in `used` of `usage_days`, whose trace has a model, or none; and for the rest of its messages, which have neither a
 * model nor usage, with nothing that they have used.
 */
export const eachUsed = (
  values: readonly unknown[],
  ofTrace: string | null,
  messages: number,
  pricedAs: ReturnType<typeof newPriced>,
  each: EachUsed,
): void => {
  let rest = messages
  for (let at = 0; at < values.length; at += USED_VALUES) {
    const [model, prices, kinds, count] = [values[at], values[at + 1], values[at + 2], values[at + 3]]
    const priced = pricedAs((model ?? ofTrace ?? undefined) as string | undefined, prices as number, kinds as number)
    each(priced, values, at + 4, count as number)
    rest -= count as number
  }
  if (rest > 0) each(pricedAs(ofTrace ?? undefined, 0, 0), NOTHING, 0, rest)
}

const NOTHING: readonly number[] = Array.from({ length: USED_VALUES }, () => 0)

/** Adds messages with what they have used. */
export const addTo = (to: Added, trace: number, [priced, values, at, messages]: Parameters<EachUsed>): void => {
  addMessages(to, trace, messages)
  if (priced.kinds !== 0) addUsed(to.used, priced, values, at)
}

/** Numbers for texts, from 0 on. */
export const newNumbers = () => {
  const numbers = new Map<string, number>()
  return (text: string): number => under(numbers, text, () => numbers.size)
}

/** Finds models as traces show them, by how agents name them; undefined for none. */
export const newShownModel = (models: Pick<KnownModels, 'find'>) => {
  const shown = new Map<string, string>()
  return (spelling: string | undefined): string | undefined =>
    spelling === undefined ? undefined : under(shown, spelling, () => models.find(spelling)?.model ?? spelling)
}

/** The sums as answers have them. */
export const sumsOf = ({ messages, traces, used }: Added, models: Pick<KnownModels, 'find'>) => ({
  traces: traces.size,
  messages,
  ...usageOf(used, models),
})
