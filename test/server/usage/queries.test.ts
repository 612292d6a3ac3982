import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { messages } from '../../../projections/messages.ts'
import { models as registry } from '../../../projections/models.ts'
import { obsoleteRows } from '../../../projections/obsolete-rows.ts'
import { sizes } from '../../../projections/sizes.ts'
import { traces } from '../../../projections/traces.ts'
import { usage } from '../../../projections/usage.ts'
import type { UsageKey } from '../../../src/contract/namespace-usage.ts'
import { changedModels } from '../../../src/server/models/changed-models.ts'
import { newPriceHistory } from '../../../src/server/models/price-history.ts'
import type { KnownModels } from '../../../src/server/models/registry.ts'
import { type SumRow, usageRows } from '../../../src/server/usage/queries.ts'
import { NOON, decodedEvents, openModels } from '../../projections/support.ts'
import {
  type Held,
  type HeldTrace,
  QUARTER,
  history,
  namespaceId,
  steps,
} from '../../projections/support/usage-history.ts'

const test = suite('usage: what counts in a namespace')
const models = await openModels(registry, sizes, traces, usage, messages, obsoleteRows)
test.after(() => models.close())

const FIRST = Math.floor(NOON / QUARTER)
/** Two quarters of an hour that count, and those before and behind them that do not; and several quarters, most of them as one day. */
const questions = [
  { period: { from: FIRST, to: FIRST + 2 }, days: [FIRST, FIRST + 1] },
  { period: { from: FIRST - 1, to: FIRST + 96 }, days: [FIRST - 1, FIRST + 3] },
] as const
type Question = (typeof questions)[number]

const BATCH = 7

type Found = { readonly message: Held; readonly of: HeldTrace; readonly externalId: string }

/** The messages that count: of each answer of an agent the one that came first. */
const counting = (held: ReadonlyMap<string, HeldTrace>): Found[] => {
  const all = [...held].flatMap(([externalId, of]) => of.messages.map((message) => ({ message, of, externalId })))
  const answers = new Set<string>()
  const byArrival = all.toSorted((a, b) => a.message.at - b.message.at)
  return byArrival.filter(({ message: { usage }, of: { agentId } }) => {
    if (usage?.responseId === undefined) return true
    const before = answers.size
    return answers.add(`${agentId} ${usage.responseId}`).size > before
  })
}

const keysOf = {
  day: () => [undefined],
  agent: ({ of }: Found) => [of.agentId],
  project: ({ of }: Found) => [of.projectName],
  model: ({ of, message }: Found) => [message.model ?? of.model],
  tool: ({ message }: Found) => [...new Set(message.tools)],
} as const satisfies Partial<Record<UsageKey, unknown>>

const names = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'reasoningTokens', 'costUsd'] as const

type Prices = readonly { readonly from: number; readonly input: number }[]

/** What a message costs: what it says, or what the input of m cost when its usage was written. */
const costOf = ({ message, of }: Found, prices: Prices): number | undefined => {
  const { usage = {}, usedAt = 0, model = of.model } = message
  if (usage.costUsd !== undefined) return usage.costUsd
  const price = model === 'm' ? prices.findLast(({ from }) => from < usedAt) : undefined
  const { inputTokens, cacheReadTokens, outputTokens } = usage
  if (
    !price ||
    (outputTokens ?? 0) > 0 ||
    (inputTokens === undefined && cacheReadTokens === undefined && outputTokens === undefined)
  )
    return undefined
  return (price.input * ((inputTokens ?? 0) + (cacheReadTokens ?? 0))) / 1_000_000
}

type Sums = { traces: Set<string>; messages: number; usage: Record<string, number>; cost?: number }

/** The rows computed one message after the other. */
const expected = (
  by: keyof typeof keysOf,
  { period, days }: Question,
  held: ReadonlyMap<string, HeldTrace>,
  prices: Prices,
) => {
  const rows = new Map<string, Sums>()
  for (const found of counting(held)) {
    const { message, externalId } = found
    const quarter = Math.floor((message.timestamp ?? message.at) / QUARTER)
    if (quarter < period.from || quarter >= period.to) continue
    for (const key of keysOf[by](found)) {
      const name = `${days.filter((from) => from <= quarter).length} ${key ?? ''}`
      const row: Sums = rows.get(name) ?? { traces: new Set(), messages: 0, usage: {} }
      rows.set(name, row)
      row.traces.add(externalId)
      row.messages += 1
      if (by === 'tool') continue
      for (const each of names)
        if (message.usage?.[each] !== undefined) row.usage[each] = (row.usage[each] ?? 0) + message.usage[each]
      const cost = costOf(found, prices)
      if (cost !== undefined) row.cost = (row.cost ?? 0) + cost
    }
  }
  return [...rows]
    .map(([key, { traces, messages, usage, cost }]) => ({
      key,
      traces: traces.size,
      messages,
      usage,
      cost: nine(cost),
    }))
    .sort(byKey)
}

const nine = (usd: number | undefined) => (usd === undefined ? undefined : Math.round(usd * 1e9) / 1e9)
const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1)

const shownRow = ({ day, key = '', traces, messages, usage = {}, cost }: SumRow) => ({
  key: `${day} ${key}`,
  traces,
  messages,
  usage: { ...usage },
  cost: cost?.usd,
})

test('adds up each answer of an agent once, at the price of its time, whatever happens to the traces', async () => {
  const property = fc.asyncProperty(steps, async (steps) => {
    const { events: written, held, prices } = history(steps)
    const events = decodedEvents(written)
    const model = await models.model()
    for (let at = 0; at < events.length; at += BATCH) await model.apply(events.slice(at, at + BATCH))
    const priceHistory = newPriceHistory()
    for (const event of events) {
      if (!event.stream.startsWith('models-')) continue
      const { position, streamId: providerId } = event
      priceHistory.apply({ position, providerId, ...changedModels(event as never) })
    }
    const known: KnownModels = { find: () => undefined, priceAt: priceHistory.at }
    const readRows = (_: string, text: string, values?: readonly unknown[]) => model.rows(text, values)
    const reads = { snapshot: (work: (read: typeof readRows) => unknown) => work(readRows) }
    const authors = { userId: '00000000-0000-4000-8000-00000000000a', seesAll: true }
    try {
      for (const question of questions)
        for (const by of Object.keys(keysOf) as (keyof typeof keysOf)[]) {
          const rows = await usageRows(reads as never, known, by, { namespaceId, ...question }, authors)
          assert.equal(rows.map(shownRow).sort(byKey), expected(by, question, held, prices), by)
        }
    } finally {
      await model.close()
    }
  })
  await fc.assert(property, { numRuns: 80 })
})

test.run()
