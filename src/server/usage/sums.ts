import { type Cost, MOST_UNPRICED, type UsageSums } from '../../contract/usage.ts'
import { DOLLAR, eachSum, kindBits, tokenColumns } from '../../tables/usage.ts'
import { type Price, costOf } from '../models/cost.ts'
import type { KnownModels } from '../models/registry.ts'
import { under } from './under.ts'

/**
 * Messages with the same model (null: that of their trace), the same prices, and the same members of their usage, as `usedByTrace` gives them: what
 * they have used together, in the order of `tokenColumns`, and what they say that they have cost, in parts of a `DOLLAR`.
 */
export type UsageGroup = readonly [
  model: string | null,
  prices: string,
  kinds: number,
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
  reasoning: number,
  cost: number,
]

const tokenNames = Object.keys(tokenColumns) as (keyof typeof tokenColumns)[]
const sumNames = [...tokenNames, 'costUsd'] as const
const COST = tokenNames.length

type Tokens = Partial<Record<(typeof tokenNames)[number], number>>

const has = (kinds: number, name: keyof typeof kindBits) => (kinds & kindBits[name]) !== 0

/**
 * Messages with one model at one price, whose usage has the same members. `spelling` is as the agent names the model, `model` as traces show it;
 * undefined without one.
 */
export type Priced = {
  readonly spelling: string | undefined
  readonly model: string | undefined
  readonly price: Price | undefined
  readonly kinds: number
}

/** Finds what messages with a model, the position of their prices, and `kinds` are: one object for all that are the same. */
export const newPriced = (models: KnownModels) => {
  const bySpelling = new Map<string | undefined, { readonly all: Priced[]; readonly byPrices: Map<number, Priced[]> }>()
  return (spelling: string | undefined, prices: number, kinds: number): Priced => {
    const { all, byPrices } = under(bySpelling, spelling, () => ({ all: [], byPrices: new Map() }))
    const byKinds = under(byPrices, prices, () => [])
    const known = byKinds[kinds]
    if (known) return known
    const needsPrice = spelling !== undefined && kinds !== 0 && !has(kinds, 'costUsd')
    const price = needsPrice ? models.priceAt(spelling, BigInt(prices)) : undefined
    let priced = all.find((one) => one.price === price && one.kinds === kinds)
    if (!priced) {
      const model = spelling === undefined ? undefined : (models.find(spelling)?.model ?? spelling)
      all.push((priced = { spelling, model, price, kinds }))
    }
    return (byKinds[kinds] = priced)
  }
}

export type PricedAs = ReturnType<typeof newPriced>

/** What messages have used: the tokens in the order of `tokenColumns`, what they say that they have cost, and how many they are. */
export type Used = Map<Priced, Float64Array>

export const MESSAGES = sumNames.length
const newUsedSums = () => new Float64Array(MESSAGES + 1)

/** Adds messages with the sums that begin at an index of `values`. */
export const addUsed = (used: Used, priced: Priced, values: ArrayLike<unknown>, at: number, messages: number): void => {
  const sums = under(used, priced, newUsedSums)
  for (let i = 0; i < MESSAGES; i++) sums[i]! += values[at + i] as number
  sums[MESSAGES]! += messages
}

/** What messages cost, in dollars, by the sums that begin at an index of `values`; undefined if that is not known. */
export const dollarsOf = ({ price, kinds }: Priced, values: ArrayLike<unknown>, at: number): number | undefined => {
  if (has(kinds, 'costUsd')) return (values[at + COST] as number) / DOLLAR
  if (!price) return undefined
  const tokens: Tokens = {}
  for (const [i, name] of tokenNames.entries()) if (has(kinds, name)) tokens[name] = values[at + i] as number
  return costOf(price, tokens, has(kinds, 'isLong'))
}

/** Dollars are rounded to nine decimals. */
export const rounded = (usd: number) => Math.round(usd * 1e9) / 1e9

const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** What messages have used and cost. */
export const usageOf = (used: Used): { readonly usage?: UsageSums; readonly cost?: Cost } => {
  const all: Record<string, number> = {}
  const usd = { reported: 0, prices: 0 }
  const found = new Set<keyof typeof usd>()
  const unpriced = new Set<string>()
  for (const [priced, sums] of used) {
    const { model, kinds } = priced
    if (kinds === 0) continue
    for (const [i, name] of sumNames.entries())
      if (has(kinds, name)) all[name] = (all[name] ?? 0) + (i === COST ? sums[i]! / DOLLAR : sums[i]!)
    const dollars = dollarsOf(priced, sums, 0)
    const of = has(kinds, 'costUsd') ? 'reported' : 'prices'
    if (dollars !== undefined) usd[of] += dollars
    if (dollars !== undefined) found.add(of)
    else if (model !== undefined) unpriced.add(model)
  }
  if (all['costUsd'] !== undefined) all['costUsd'] = rounded(all['costUsd'])
  const known = sumNames.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]))
  return {
    ...(known.length === 0 ? {} : { usage: Object.fromEntries(known) as UsageSums }),
    ...(found.size === 0
      ? {}
      : {
          cost: {
            usd: rounded(usd.reported + usd.prices),
            of: found.size === 2 ? 'mixed' : [...found][0]!,
            ...(unpriced.size === 0 ? {} : { unpriced: [...unpriced].sort(compareTexts).slice(0, MOST_UNPRICED) }),
          },
        }),
  }
}

const FIRST_SUM = 3

/**
 * What messages have used and cost as JSON texts. `groups` is the JSON text of their groups, `ofTrace` the model of their trace as a JSON literal;
 * null without one.
 */
export const usageTexts = (groups: string, ofTrace: string | null, models: KnownModels) => {
  const modelOfTrace = ofTrace === null ? undefined : (JSON.parse(ofTrace) as string)
  const pricedAs = newPriced(models)
  const used: Used = new Map()
  for (const group of JSON.parse(groups) as UsageGroup[]) {
    const [model, prices, kinds] = group
    addUsed(used, pricedAs(model ?? modelOfTrace, Number(prices), kinds), group, FIRST_SUM, 0)
  }
  const { usage, cost } = usageOf(used)
  return { usage: usage && JSON.stringify(usage), cost: cost && JSON.stringify(cost) }
}

const group = ['model', 'prices', 'kinds', ...eachSum((name) => name).split(', ')].map((name) => {
  if (name === 'model') return `case when g.model = '' then 'null' else g.model end`
  return name === 'prices' ? `'"' || g.prices || '"'` : `g.${name}`
})

/** SQL for the groups of a trace `t` as JSON text; null without usage. It is put together as text, which takes a third of the time of JSON functions. */
export const usedByTrace = `(
  select '[' || string_agg('[' || ${group.join(` || ',' || `)} || ']', ',') || ']' from (
    select r.model, r.prices, r.kinds, ${eachSum((name) => `sum(r.${name}) as ${name}`)}
    from usage r where r.trace_id = t.id and r.kinds <> 0 group by 1, 2, 3
  ) g
)`
