import { erasedFrom, rewritten } from './storage.ts'
import { tableOf } from './table.ts'

/** What the messages of the present traces have used, by quarters of an hour. */

/** The resolution of the sums: the days of every time zone are made of quarters of an hour. */
export const QUARTER_MS = 900_000

/** How many of them a day of UTC has. */
export const DAY_QUARTERS = 96

/** Times beyond this are no dates. */
const MOST_MS = 8.64e15

/**
 * What a dollar counts in sums of costs: these are whole numbers, because sums of fractions would depend on their order. All sums are float8, which is
 * exact up to 2^53, and overflows for no number of messages.
 */
export const DOLLAR = 1e12
/** Larger costs count as this one. */
export const MOST_DOLLARS = 1e200

/** The tokens of a `Usage`, with the column for the sum of each. */
export const tokenColumns = {
  inputTokens: 'input',
  outputTokens: 'output',
  cacheReadTokens: 'cache_read',
  cacheWriteTokens: 'cache_write',
  reasoningTokens: 'reasoning',
} as const

type Tokens = keyof typeof tokenColumns

const sums = [...Object.values(tokenColumns), 'cost'] as const

/** The bits of `kinds`: which members the usage of the messages has, and whether input and caches together have more than `LONG_CONTEXT` tokens. */
export const kindBits = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadTokens: 4,
  cacheWriteTokens: 8,
  reasoningTokens: 16,
  costUsd: 32,
  isLong: 64,
} as const satisfies Record<Tokens | 'costUsd' | 'isLong', number>

/** Above so many tokens of input some models have other prices. */
export const LONG_CONTEXT = 200_000

/** SQL for a hash of a text: texts of clients may be too long for an index. */
const hashOf = (text: string) => `hashtextextended(${text}, 0)`

/** The columns by which sums are told apart. */
export const USAGE_KEY = 'trace_id, slot, model_hash, prices, kinds'
export const USAGE_TOOLS_KEY = 'trace_id, slot, tool_hash'

const key = { trace_id: 'uuid not null', namespace_id: 'uuid not null', slot: 'int8 not null' } as const

/** What messages have in common that are added up together, and the sums. */
const added = {
  model: 'text collate "C" not null',
  prices: 'int8 not null',
  kinds: 'int4 not null',
  input: 'float8 not null',
  output: 'float8 not null',
  cache_read: 'float8 not null',
  cache_write: 'float8 not null',
  reasoning: 'float8 not null',
  cost: 'float8 not null',
} as const

/**
 * How many messages of a trace count in a quarter of an hour, and the sums of what they have used. `slot` is the quarter, counted from 1970; `model` that
 * of the messages, as a JSON literal, or empty where they have none; `prices` is that of the messages, 0 without usage.
 */
export const usageTable = tableOf(
  'usage',
  {
    ...key,
    messages: 'int4 not null',
    ...added,
    model_hash: `int8 not null generated always as (${hashOf('model')}) stored`,
  },
  { constraint: `primary key (${USAGE_KEY})`, storage: `fillfactor = 70, ${rewritten}` },
)

/** How many messages of a trace that count have called a tool in a quarter of an hour; `tool` is a JSON literal. */
export const usageToolsTable = tableOf(
  'usage_tools',
  {
    ...key,
    tool: 'text collate "C" not null',
    messages: 'int4 not null',
    tool_hash: `int8 not null generated always as (${hashOf('tool')}) stored`,
  },
  { constraint: `primary key (${USAGE_TOOLS_KEY})`, storage: `fillfactor = 70, ${rewritten}` },
)

/**
 * The calls that have failed. `ordinal` is that of the message with the call, `nth` the place of the call among those of the message, `slot` the
 * quarter of an hour of the message; `tool` is a JSON literal.
 */
export const failedCallsTable = tableOf(
  'failed_calls',
  { ...key, ordinal: 'int4 not null', nth: 'int4 not null', tool: 'text collate "C" not null' },
  { constraint: 'primary key (trace_id, ordinal, nth)', storage: erasedFrom },
)

/**
 * The messages whose answer (`answerOf`) two or more traces of a namespace have: when each came, and what it adds to the sums of its trace, so
 * that it can be subtracted where it counts `elsewhere`: for another trace of the same agent, in which it came first.
 */
export const copiedAnswersTable = tableOf(
  'copied_answers',
  {
    ...key,
    answer: 'int8 not null',
    ordinal: 'int4 not null',
    created_at: 'int8 not null',
    elsewhere: 'bool not null',
    tools: 'json not null',
    ...added,
  },
  { constraint: 'primary key (namespace_id, answer, trace_id)', storage: erasedFrom },
)

/** SQL for the hash by which an answer of a provider is known in a namespace; null without a `responseId`. */
export const answerOf = (namespaceId: string, usage: string): string =>
  hashOf(`${namespaceId}::text || (${usage} ->> 'responseId')`)

/** SQL for whether a message `m` counts. */
export const counts = (m: string): string => `(${m}.answer is not null or ${m}.usage ->> 'responseId' is null)`

/** SQL for the quarter of an hour of a message `m`: that of its timestamp, or of its arrival if it has none, or one that is no date. */
export const slotOf = (m: string): string =>
  `floor((case when abs(${m}.timestamp) <= ${MOST_MS} then ${m}.timestamp else ${m}.created_at end) / ${QUARTER_MS})::int8`

/** The same as `slotOf` for a message with this timestamp and arrival. */
export const quarterOf = (timestamp: number, createdAt: number): number =>
  Math.floor((Math.abs(timestamp) <= MOST_MS ? timestamp : createdAt) / QUARTER_MS)

const bit = (name: keyof typeof kindBits) => `(x."${name}" is not null)::int4 * ${kindBits[name]}`
const tokens = Object.keys(tokenColumns) as Tokens[]
const contextTokens = (['inputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const).map(
  (name) => `coalesce(x."${name}", 0)`,
)

/**
 * SQL for what a message `m` adds to the sums, as columns of `usage` but for the trace's. It looks into the usage: numbers, and a text without
 * NUL and lone surrogates.
 */
export const usageIn = (m: string): string => `
  cross join lateral (
    select ${slotOf(m)} as slot, coalesce(${m}.model::text, '') as model, coalesce(${m}.prices, 0) as prices,
      ${[...tokens, 'costUsd' as const].map(bit).join(' + ')}
        + (${contextTokens.join(' + ')} > ${LONG_CONTEXT})::int4 * ${kindBits.isLong} as kinds,
      ${tokens.map((name) => `coalesce(x."${name}", 0) as ${tokenColumns[name]}`).join(', ')},
      round(least(coalesce(x."costUsd", 0), ${MOST_DOLLARS}) * ${DOLLAR}) as cost
    from json_to_record(coalesce(${m}.usage, '{}'))
      as x (${[...tokens, 'costUsd'].map((name) => `"${name}" float8`).join(', ')})
  ) used`

/** SQL for the columns of the sums, each as it is made of the same column of `from`. */
export const eachSum = (sql: (column: (typeof sums)[number]) => string): string => sums.map(sql).join(', ')
