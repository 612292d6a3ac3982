/** Dollars per million tokens, by kind of token; a kind is left out when its price is not known. */
type Prices = {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

/** What a model costs. `over200k` has the prices that are different when input, cache reads and cache writes together exceed 200,000 tokens. */
export type Price = Prices & { readonly over200k?: Prices }

/** Sums of tokens, as `usage` has them: `inputTokens` without cached ones, `reasoningTokens` a part of `outputTokens`. */
export type Tokens = {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cacheReadTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

const KINDS = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
} as const satisfies Record<keyof Prices, string>

const isPrice = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0

const pricesIn = (given: Readonly<Record<string, unknown>>): Prices =>
  Object.fromEntries(
    Object.entries(KINDS)
      .map(([kind, field]) => [kind, given[field]])
      .filter(([, value]) => isPrice(value)),
  )

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/**
 * The price of a model from its `cost` in the catalogue, of which only numbers from 0 on are read; undefined if it has none.
 * The catalogue also has `tiers` for other amounts of context, and `context_over_200k` beside the one of 200,000 tokens or more.
 */
export const priceIn = (cost: unknown): Price | undefined => {
  if (!isObject(cost)) return undefined
  const prices = pricesIn(cost)
  const over200k = isObject(cost.context_over_200k) ? pricesIn(cost.context_over_200k) : {}
  const price = Object.keys(over200k).length === 0 ? prices : { ...prices, over200k }
  return Object.keys(price).length === 0 ? undefined : price
}

const MILLION = 1_000_000

/**
 * What tokens cost, in dollars; undefined if a price that is needed is missing, or if neither input nor output is known. Cached tokens cost what input
 * does where the model has no price for them, and so do reasoning tokens with output. `isOver200k` says that each message of the sum
 * has more than 200,000 tokens of input, cache reads and cache writes.
 */
export const costOf = (price: Price, tokens: Tokens, isOver200k: boolean): number | undefined => {
  const {
    input,
    output,
    cacheRead = input,
    cacheWrite = input,
    reasoning = output,
  } = {
    ...price,
    ...(isOver200k ? price.over200k : {}),
  }
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens = 0 } = tokens
  const reasoned = Math.min(reasoningTokens, outputTokens ?? 0)
  const billed = [
    [input, inputTokens],
    [cacheRead, cacheReadTokens],
    [cacheWrite, cacheWriteTokens],
    [output, outputTokens === undefined ? undefined : outputTokens - reasoned],
    [reasoning, reasoned],
  ] as const
  const isKnown = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens].some((count) => count !== undefined)
  if (!isKnown || billed.some(([dollars, count]) => count && dollars === undefined)) return undefined
  return billed.reduce((sum, [dollars = 0, count = 0]) => sum + dollars * count, 0) / MILLION
}
