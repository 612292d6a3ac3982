import { type Cost, MOST_UNPRICED, type UsageSums } from '../../contract/usage.ts'
import { DOLLAR, eachSum, kindBits, tokenColumns } from '../../tables/usage.ts'
import { costOf } from '../models/cost.ts'
import type { KnownModels } from '../models/registry.ts'

/**
 * Messages with the same model (null: that of their trace), the same prices, and the same members of their usage, as `groupsOf` gives them: what
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

/**
 * SQL for the groups in those rows `g` with the columns of `usage` of which `condition` holds, as the text of a JSON array; null without any. It is
 * put together as text, which takes a third of the time of JSON functions.
 */
export const groupsOf = (g: string, condition: string): string => {
  const numbers = [`${g}.kinds`, ...eachSum((name) => `${g}.${name}`).split(', ')]
  const model = `case when ${g}.model = '' then 'null' else ${g}.model end`
  const group = `'[' || ${model} || ',"' || ${g}.prices || '",' || ${numbers.join(` || ',' || `)} || ']'`
  return `'[' || string_agg(${group}, ',') filter (where ${condition}) || ']'`
}

const tokenNames = Object.keys(tokenColumns) as (keyof typeof tokenColumns)[]
const FIRST_SUM = 3

type Tokens = Partial<Record<(typeof tokenNames)[number], number>>

const has = (kinds: number, name: keyof typeof kindBits) => (kinds & kindBits[name]) !== 0

/** The tokens of a group that are known. Groups may be many: this loop takes half the time of `Object.fromEntries`. */
const tokensIn = (group: UsageGroup): Tokens => {
  const tokens: Tokens = {}
  for (const [i, name] of tokenNames.entries()) if (has(group[2], name)) tokens[name] = group[FIRST_SUM + i] as number
  return tokens
}

/** Dollars are rounded to nine decimals. */
const rounded = (usd: number) => Math.round(usd * 1e9) / 1e9

const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** How traces show models with these spellings. */
const shownModels = (spellings: ReadonlySet<string>, models: KnownModels): string[] => {
  const shown = new Set([...spellings].map((spelling) => models.find(spelling)?.model ?? spelling))
  return [...shown].sort(compareTexts).slice(0, MOST_UNPRICED)
}

/** What messages have used and cost. `ofTrace` is the model of their trace as a JSON literal; null without one. */
export const usageOf = (
  groups: readonly UsageGroup[],
  ofTrace: string | null,
  models: KnownModels,
): { readonly usage?: UsageSums; readonly cost?: Cost } => {
  const modelOfTrace = ofTrace === null ? undefined : (JSON.parse(ofTrace) as string)
  const sums: Record<string, number> = {}
  const usd = { reported: 0, prices: 0 }
  const found = new Set<keyof typeof usd>()
  const unpriced = new Set<string>()
  const add = (of: keyof typeof usd, cost: number) => {
    found.add(of)
    usd[of] += cost
  }
  for (const group of groups) {
    const [model, prices, kinds] = group
    const tokens = tokensIn(group)
    for (const name of tokenNames) {
      const count = tokens[name]
      if (count !== undefined) sums[name] = (sums[name] ?? 0) + count
    }
    if (has(kinds, 'costUsd')) {
      sums['costUsd'] = (sums['costUsd'] ?? 0) + group[8] / DOLLAR
      add('reported', group[8] / DOLLAR)
      continue
    }
    if (kinds === 0) continue
    const spelling = model ?? modelOfTrace
    const price = spelling === undefined ? undefined : models.priceAt(spelling, BigInt(prices))
    const cost = price && costOf(price, tokens, has(kinds, 'isLong'))
    if (cost !== undefined) add('prices', cost)
    else if (spelling !== undefined) unpriced.add(spelling)
  }
  if (sums['costUsd'] !== undefined) sums['costUsd'] = rounded(sums['costUsd'])
  const known = [...tokenNames, 'costUsd'].flatMap((name) => (sums[name] === undefined ? [] : [[name, sums[name]]]))
  return {
    ...(known.length === 0 ? {} : { usage: Object.fromEntries(known) as UsageSums }),
    ...(found.size === 0
      ? {}
      : {
          cost: {
            usd: rounded(usd.reported + usd.prices),
            of: found.size === 2 ? 'mixed' : [...found][0]!,
            ...(unpriced.size === 0 ? {} : { unpriced: shownModels(unpriced, models) }),
          },
        }),
  }
}

/** What messages have used and cost as JSON texts; `used` is the JSON text of their groups. */
export const usageTexts = (used: string, ofTrace: string | null, models: KnownModels) => {
  const { usage, cost } = usageOf(JSON.parse(used) as UsageGroup[], ofTrace, models)
  return { usage: usage && JSON.stringify(usage), cost: cost && JSON.stringify(cost) }
}

/** SQL for the groups of a trace `t` as JSON text; null without usage. */
export const usedByTrace = `(
  select ${groupsOf('g', 'true')} from (
    select r.model, r.prices, r.kinds, ${eachSum((name) => `sum(r.${name}) as ${name}`)}
    from usage r where r.trace_id = t.id and r.kinds <> 0 group by 1, 2, 3
  ) g
)`
