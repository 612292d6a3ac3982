import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { messages } from '../../projections/messages.ts'
import { models as registry } from '../../projections/models.ts'
import { obsoleteRows } from '../../projections/obsolete-rows.ts'
import { sizes } from '../../projections/sizes.ts'
import { traces } from '../../projections/traces.ts'
import { usage } from '../../projections/usage.ts'
import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import { type Model, decodedEvents, openModels } from './support.ts'
import { DAY_QUARTERS, DOLLAR } from '../../src/tables/usage.ts'
import { dayIn, dayOf } from '../../src/tables/usage-days.ts'
import { type HeldTrace, QUARTER, history, steps } from './support/usage-history.ts'

const test = suite('what messages have used')
const models = await openModels(registry, sizes, traces, usage, messages, obsoleteRows)
test.after(() => models.close())

const columns = {
  input: 'inputTokens',
  output: 'outputTokens',
  cache_read: 'cacheReadTokens',
  cache_write: 'cacheWriteTokens',
  reasoning: 'reasoningTokens',
  cost: 'costUsd',
} as const

/** What counts of the messages of each trace, computed one message after the other. */
const expected = (held: ReadonlyMap<string, HeldTrace>) => {
  const sums = new Map<string, Record<string, number>>()
  const tools = new Map<string, number>()
  for (const [externalId, { messages }] of held) {
    const answers = new Set<string>()
    for (const { model, timestamp, usage = {}, tools: called, at } of messages) {
      const { responseId } = usage
      if (responseId !== undefined && answers.has(responseId)) continue
      if (responseId !== undefined) answers.add(responseId)
      const slot = Math.floor((timestamp ?? at) / QUARTER)
      const key = `${externalId} ${slot} ${model ?? ''}`
      const sum = sums.get(key) ?? { messages: 0 }
      sum.messages! += 1
      for (const [column, name] of Object.entries(columns))
        if (usage[name] !== undefined) sum[column] = (sum[column] ?? 0) + usage[name]
      sums.set(key, sum)
      for (const tool of new Set(called))
        tools.set(`${externalId} ${slot} ${tool}`, (tools.get(`${externalId} ${slot} ${tool}`) ?? 0) + 1)
    }
  }
  return { sums: sorted(sums), tools: sorted(tools), copies: copiesIn(held) }
}

const sorted = <Value>(map: ReadonlyMap<string, Value>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

/** For each answer that several traces have, the first message with it in each; it counts for the trace of an agent in which it came first. */
const copiesIn = (held: ReadonlyMap<string, HeldTrace>) => {
  const holders = new Map<string, { readonly copy: string; readonly agentId: string; readonly at: number }[]>()
  for (const [externalId, { messages, agentId }] of held) {
    const firsts = new Set<string>()
    for (const [ordinal, { usage, at }] of messages.entries()) {
      const { responseId } = usage ?? {}
      if (responseId === undefined || firsts.has(responseId)) continue
      firsts.add(responseId)
      const copies = holders.get(responseId) ?? []
      holders.set(responseId, [...copies, { copy: `${externalId} ${ordinal}`, agentId, at }])
    }
  }
  return [...holders.values()]
    .filter(({ length }) => length > 1)
    .flatMap((copies) =>
      copies.map(({ copy, agentId, at }) => {
        const isLater = copies.some((other) => other.agentId === agentId && other.at < at)
        return `${copy} ${isLater ? 'elsewhere' : 'here'}`
      }),
    )
    .sort()
}

const bits = { input: 1, output: 2, cache_read: 4, cache_write: 8, reasoning: 16, cost: 32 } as const

type SumRow = Record<string, string> & { kinds: number; external_id: string; model: string }

/** The same from the tables. */
const shown = async ({ rows }: Model) => {
  const present = 'join traces t on t.id = u.trace_id'
  const sums = new Map<string, Record<string, number>>()
  for (const row of await rows<SumRow>(`select u.*, t.external_id from usage u ${present}`)) {
    const key = `${row.external_id} ${row.slot} ${row.model === '' ? '' : JSON.parse(row.model)}`
    const sum = sums.get(key) ?? { messages: 0 }
    sum.messages! += Number(row.messages)
    for (const [column, bit] of Object.entries(bits))
      if (row.kinds & bit) sum[column] = (sum[column] ?? 0) + Number(row[column]) / (column === 'cost' ? DOLLAR : 1)
    sums.set(key, sum)
  }
  const tools = new Map<string, number>()
  for (const row of await rows<SumRow>(`select u.*, t.external_id from usage_tools u ${present}`))
    tools.set(`${row.external_id} ${row.slot} ${JSON.parse(row.tool!)}`, Number(row.messages))
  const copies = await rows<{ copy: string }>(
    `select t.external_id || ' ' || m.ordinal || case when c.elsewhere then ' elsewhere' else ' here' end as copy
       from copied_answers c join traces t on t.id = c.trace_id
       join messages m on m.trace_id = t.id and m.incarnation = t.incarnation and m.answer = c.answer order by 1`,
  )
  return { sums: sorted(sums), tools: sorted(tools), copies: copies.map(({ copy }) => copy) }
}

/** The rows of days that are not what the quarters of an hour come to. */
const daysApart = ({ rows }: Model) => {
  const columns = ['first', 'last', 'messages', 'used', 'quarters', 'tools']
  return rows(`
    select * from (
      select u.trace_id, u.day, ${columns.map((name) => `d.${name}`)}
      from (select distinct trace_id, ${dayOf('slot')} as day from usage) u
      ${dayIn('u.trace_id', `u.day * ${DAY_QUARTERS}`, `(u.day + 1) * ${DAY_QUARTERS}`)}
    ) q full join usage_days d using (trace_id, day)
    where (${columns.map((name) => `q.${name}`)}) is distinct from (${columns.map((name) => `d.${name}`)}) or d.stale`)
}

test('adds up what counts, for any batches of events, whatever happens to the traces', async () => {
  const property = fc.asyncProperty(
    steps,
    fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }),
    async (steps, cuts) => {
      const { events: written, held } = history(steps)
      const events = decodedEvents(written)
      const model = await models.model()
      for (let at = 0, i = 0; at < events.length; i++) {
        const size = cuts[i % cuts.length]!
        await model.apply(events.slice(at, at + size))
        at += size
      }
      const one = await models.model()
      for (const event of events) await one.apply([event])
      try {
        assert.equal(await shown(model), expected(held))
        assert.equal(await shown(one), expected(held))
        assert.equal([...(await daysApart(model)), ...(await daysApart(one))], [])
      } finally {
        await model.close()
        await one.close()
      }
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

test('lists an answer for all traces that have it, also if two more come at once', async () => {
  const step = { does: 'add' as const, message: 0, model: undefined, quarter: undefined, tools: [] }
  for (const order of [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
  ]) {
    // prettier-ignore
    const { events: written, held } = history(
      order.map((trace) => ({ ...step, trace, usage: { inputTokens: 1, responseId: 'r' } })),
    )
    const [created, added, ...others] = decodedEvents(written)
    const model = await models.model()
    await model.apply([created!, added!])
    await model.apply(others)
    assert.equal(await shown(model), expected(held))
    await model.close()
  }
})

/** The events that an erasure leaves: none before a deletion or an erased past, which themselves go with the next one. */
const afterErasure = (events: readonly DecodedEvent[]): DecodedEvent[] => {
  const begins = new Map<string, bigint>()
  for (const event of events) {
    if (event.type === 'TraceDeleted') begins.set(event.stream, event.revision)
    if (event.type === 'HistoryErased') begins.set(event.stream, BigInt((event.data as { since: number }).since))
  }
  return events.filter(({ stream, revision }) => revision >= (begins.get(stream) ?? 0n))
}

const rowsOf = async ({ rows }: Model) => {
  const present = 'join traces t on t.id = u.trace_id'
  return [
    await rows(`select u::text from usage u ${present} order by 1`),
    await rows(`select u::text from usage_tools u ${present} order by 1`),
    await rows(`select u::text from usage_days u ${present} order by 1`),
    await rows('select c::text from copied_answers c order by 1'),
  ]
}

test('is the same when it is built anew from what an erasure has left of the log', async () => {
  const property = fc.asyncProperty(steps, async (steps) => {
    const events = decodedEvents(history(steps).events)
    const [live, anew] = [await models.model(), await models.model()]
    for (const event of events) await live.apply([event])
    await anew.apply(afterErasure(events))
    try {
      assert.equal(await rowsOf(anew), await rowsOf(live))
    } finally {
      await live.close()
      await anew.close()
    }
  })
  await fc.assert(property, { numRuns: 60 })
})

test.run()
