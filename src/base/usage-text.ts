/** What answers of models have used and cost, as the command line and the pages write it for people. */

/** `UsageSums` of the contract, or what it adds up. */
type Used = {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly cacheReadTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** `Cost` of the contract. */
type Priced = {
  readonly usd: number
  readonly of: 'reported' | 'prices' | 'mixed'
  readonly unpriced?: readonly string[] | undefined
}

/** Units of counts; each begins where a count rounded in the unit below would have four digits. */
const UNITS = [
  { name: 'T', size: 1e12 },
  { name: 'B', size: 1e9 },
  { name: 'M', size: 1e6 },
  { name: 'k', size: 1e3 },
] as const

const FOUR_DIGITS = 0.9995
const THREE_DIGITS = 99.95

/** A count of tokens, as `940`, `1.2 k`, `34.5 M` or `212 M`. */
export const tokensText = (count: number): string => {
  const unit = UNITS.find(({ size }) => count >= size * FOUR_DIGITS)
  if (unit === undefined) return String(Math.round(count))
  const inUnits = count / unit.size
  return `${inUnits.toFixed(inUnits < THREE_DIGITS ? 1 : 0)} ${unit.name}`
}

/** Below it, cents say too little. */
const A_CENT = 0.00995
const LEAST = 0.0001
/** From here on there are commas. A formatter is made only for these: making one takes longer than writing a line. */
const A_THOUSAND = 999.995

/** US dollars to the cent, as `$12.34` or `$1,204.00`; less than a cent as `$0.0042` or `under $0.0001`. */
export const dollarsText = (usd: number): string => {
  if (usd >= A_THOUSAND) return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
  if (usd >= A_CENT || usd === 0) return `$${usd.toFixed(2)}`
  return usd < LEAST ? `under $${LEAST}` : `$${usd.toFixed(4)}`
}

/** The sum of the counts that are known; undefined if none is. */
export const sumOfKnown = (...counts: readonly (number | undefined)[]): number | undefined => {
  const known = counts.filter((count) => count !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0)
}

/** Tokens as people tell them apart; each is undefined if it is not known. */
export type TokenCounts = {
  /** Of the input what was not in the cache, with what was written to it. */
  readonly input: number | undefined
  /** Of the input what was read from the cache. */
  readonly cached: number | undefined
  readonly output: number | undefined
  /** How many of `output` were thinking. */
  readonly thinking: number | undefined
  /** `input`, `cached` and `output`. */
  readonly all: number | undefined
}

export const tokenCounts = (usage: Used = {}): TokenCounts => {
  const { inputTokens, cacheWriteTokens, cacheReadTokens: cached, outputTokens: output, reasoningTokens } = usage
  const input = sumOfKnown(inputTokens, cacheWriteTokens)
  return { input, cached, output, thinking: reasoningTokens, all: sumOfKnown(input, cached, output) }
}

/** What is known of tokens in few words, as `1.2 M tokens in`, `34.5 M cached`, `45.3 k out`; empty if nothing is. */
export const shortTokenFacts = (usage: Used | undefined): string[] => {
  const { input, cached, output } = tokenCounts(usage)
  const known = [
    [input, 'in'],
    [cached, 'cached'],
    [output, 'out'],
  ] as const
  return known
    .flatMap(([count, what]) => (count === undefined ? [] : [{ text: tokensText(count), what }]))
    .map(({ text, what }, i) => `${text} ${i === 0 ? 'tokens ' : ''}${what}`)
}

/** What is known of tokens, as `1.2 M in`, `34.5 M cached`, `45.3 k out`, `3.1 k of them thinking`; empty if nothing is. */
export const tokenFacts = (usage: Used | undefined): string[] => {
  const { input, cached, output, thinking } = tokenCounts(usage)
  const facts = [
    [input, 'in'],
    [cached, 'cached'],
    [output, 'out'],
    [thinking === 0 ? undefined : thinking, output === undefined ? 'thinking' : 'of them thinking'],
  ] as const
  return facts.flatMap(([count, what]) => (count === undefined ? [] : [`${tokensText(count)} ${what}`]))
}

/** What a subscription really costs is not known, so it is said where dollars are those of a price list. */
const LISTED = { reported: '', prices: ' at list prices', mixed: ', in part at list prices' } as const

/** A cost, as `$4.12`, `$4.12 at list prices` or `$4.12, in part at list prices`; `at least $4.12` if models are without a price. */
export const costText = ({ usd, of, unpriced }: Priced): string =>
  `${unpriced === undefined ? '' : 'at least '}${dollarsText(usd)}${LISTED[of]}`

/** Says which models are not in a cost, as `no price is known for a and b`; undefined if there are none. */
export const unpricedText = (models: readonly string[] = []): string | undefined =>
  models.length === 0 ? undefined : `no price is known for ${new Intl.ListFormat('en').format(models)}`

/** A cost in words, and which models are not in it. */
export const costFacts = (cost: Priced): string[] =>
  [costText(cost), unpricedText(cost.unpriced)].filter((text) => text !== undefined)

/** Said where nothing is known of what agents have used. */
export const NO_USAGE_OF = 'Cursor records no usage, Copilot CLI only that of its output.'
