import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { float8s } from '../../eventstore/postgres/arrays.ts'
import { tokenColumns } from '../../tables/usage.ts'
import { costOf, type Price, type Tokens } from '../models/cost.ts'
import type { KnownModels } from '../models/registry.ts'
import { inDays, modelOf, shownModel } from './queries.ts'
import type { Period } from './days.ts'

/** Messages with one model, as traces show it, at one price. `model` is a spelling of it as a JSON literal, or empty; `prices` a position at which it had that price. */
export type PriceClass = { readonly shown: string; readonly model: string; readonly prices: bigint }

/** Stands for the prices of messages without usage, which cost nothing. */
const NO_PRICES = -1

/** SQL for the prices of rows `c` of `usage` or `usage_days`. */
export const pricesOf = `case when c.kinds = 0 then ${NO_PRICES} else c.prices end`

const statement = `
  select distinct ${modelOf} as model, ${pricesOf} as prices
  from usage_days c where c.namespace_id = $1 and ${inDays('c.day')}`

const MILLION = 1_000_000

/** What a million tokens of each column of `tokenColumns` cost, as far as it is known. Tokens of thinking are part of the output. */
const perMillion = (price: Price | undefined, isLong: boolean): number[] => {
  const cost = (tokens: Tokens) => (price && costOf(price, tokens, isLong)) ?? 0
  return Object.keys(tokenColumns).map((name) =>
    name === 'reasoningTokens'
      ? cost({ outputTokens: MILLION, reasoningTokens: MILLION }) - cost({ outputTokens: MILLION })
      : cost({ [name]: MILLION }),
  )
}

/** The model of messages, as a JSON literal or empty, and the position of their prices. */
export type Priced = { readonly model: string; readonly prices: bigint }

/** The models and prices of the messages of a namespace in a period. */
export const pricedIn = (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  namespaceId: string,
  { from, to }: Period,
): Promise<Priced[]> => reads.rows<Priced & Row>('usage-prices', statement, [namespaceId, from, to])

/**
 * Puts together what has one price: every change of the registry is a position, but few change a price. `values` are parameters for SQL: an
 * object with the index of the class, from 1 on, of each position and spelling (`position/spelling`); then for each column of `tokenColumns` what
 * a million tokens of each class cost, and behind that of a message with a long context.
 */
export const priceClasses = (
  models: KnownModels,
  priced: readonly Priced[],
): { readonly classes: readonly PriceClass[]; readonly values: readonly unknown[] } => {
  const byPrice = new Map<string, Map<Price | undefined, number>>()
  const classes: PriceClass[] = []
  const weights: number[][] = []
  const indexes = priced.map(({ model, prices }): [string, number] => {
    const shown = model === '' ? '' : shownModel(models, model)
    const price = model === '' || prices < 0n ? undefined : models.priceAt(JSON.parse(model) as string, prices)
    const ofModel = byPrice.get(shown) ?? new Map<Price | undefined, number>()
    byPrice.set(shown, ofModel)
    let index = ofModel.get(price)
    if (index === undefined) {
      index = classes.push({ shown, model, prices })
      ofModel.set(price, index)
      weights.push(perMillion(price, false), perMillion(price, true))
    }
    return [`${prices}/${model}`, index]
  })
  return {
    classes,
    values: [
      JSON.stringify(Object.fromEntries(indexes)),
      ...Object.keys(tokenColumns).map((_, i) => float8s(weights.map((one) => one[i]!))),
    ],
  }
}
