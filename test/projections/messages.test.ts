import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { obsoleteRows } from '../../projections/obsolete-rows.ts'
import { messages } from '../../projections/messages.ts'
import { models } from '../../projections/models.ts'
import { parts } from '../../projections/parts.ts'
import { sizes } from '../../projections/sizes.ts'
import { traces } from '../../projections/traces.ts'
import type { DecodedEvent, Projection } from '../../src/eventstore/engine/projection.ts'
import type { AnyEvent } from '../../src/server/events.ts'
import { headOfParts } from '../../src/server/trace/messages/heads.ts'
import { storedPart } from '../../src/server/trace/messages/part.ts'
import { type Model, type StreamEvent, decodedEvents, openModels } from './support.ts'

type MessageAdded = Extract<AnyEvent, { type: 'MessageAdded' }>
type MessageUpdated = Extract<AnyEvent, { type: 'MessageUpdated' }>

const test = suite('projections: messages and parts')

const { model, close } = await openModels(models, sizes, traces, messages, parts, obsoleteRows)
test.after(close)

const owner = { externalId: 't', namespaceId: randomUUID(), createdBy: randomUUID() }
const created: AnyEvent = { type: 'TraceCreated', data: { ...owner, agentId: 'a', visibility: 'private' } }
const added: MessageAdded = {
  type: 'MessageAdded',
  data: {
    externalId: 'm',
    ordinal: 0,
    role: 'user',
    parts: [storedPart({ type: 'text', content: { text: 'hello' } })],
    class: 'user_message',
    tools: [],
  },
}
const deleted: AnyEvent = { type: 'TraceDeleted', data: { ...owner, createdAt: 1, messageCount: 1, earlier: [] } }

test('each incarnation of a trace has its own rows, for any batches of its events', async () => {
  const stream = `trace-${randomUUID()}`
  const events: StreamEvent[] = [created, added, deleted, created, added].map((event) => ({ stream, event }))
  const [whole, single] = [await model(), await model()]
  await whole.apply(decodedEvents(events))
  for (const event of decodedEvents(events)) await single.apply([event])
  for (const table of ['messages', 'message_blocks']) {
    const rows = `select incarnation from ${table} order by 1`
    assert.equal(await whole.rows(rows), [{ incarnation: 3n }])
    assert.equal(await single.rows(rows), [{ incarnation: 0n }, { incarnation: 3n }])
  }
  for (const one of [whole, single]) assert.equal(await one.rows('select before from obsolete_rows'), [{ before: 2n }])
})

test('a message whose trace has no header is refused, not lost', async () => {
  const stream = `trace-${randomUUID()}`
  const one = await model()
  const { message } = await one.apply(decodedEvents([{ stream, event: added }])).then(
    () => ({ message: 'applied' }),
    (error: Error) => error,
  )
  assert.match(message, 'nothing is known of ')
})

const MANY = 2_000

type Plan = {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** How many rows, or pairs of them, a plan looked at in vain. */
const inVain = ({ Plans = [], ...plan }: Plan): number => {
  const { 'Rows Removed by Join Filter': pairs = 0, 'Rows Removed by Filter': rows = 0 } = plan
  return Plans.reduce((sum, each) => sum + inVain(each), (pairs + rows) * plan['Actual Loops'])
}

/** The most rows that one node of a plan gave. */
const mostRows = ({ Plans = [], ...plan }: Plan): number => Math.max(plan['Actual Rows'], ...Plans.map(mostRows))

/** What a projection does for an event, as the plans that the statements were run with. */
const plansOf = async (one: Model, projection: Projection, events: readonly DecodedEvent[]): Promise<Plan[]> => {
  const changes: unknown = projection.start()
  for (const event of events) {
    const handler = projection.on[event.type]
    if (typeof handler === 'function') handler(changes, event)
  }
  const statements: [text: string, values: readonly unknown[]][] = []
  projection.write(changes, (_name, text, values) => void statements.push([text, values]))
  const plans: Plan[] = []
  for (const [text, values] of statements) {
    const [row] = await one.rows<{ 'QUERY PLAN': string }>(`explain (analyze, format json) ${text}`, values)
    plans.push((JSON.parse(row!['QUERY PLAN']) as [{ Plan: Plan }])[0].Plan)
  }
  return plans
}

test('the cost of many changes of one message or trace is in proportion, also without statistics of the tables', async () => {
  const stream = `trace-${randomUUID()}`
  const one = await model()
  const part = added.data.parts[0]!
  const large = { ...added, data: { ...added.data, parts: Array.from({ length: MANY }, () => part) } }
  const others = Array.from({ length: MANY }, (_, i) => ({
    ...added,
    data: { ...added.data, externalId: `m${i}`, ordinal: i + 1, timestamp: i },
  }))
  await one.apply(decodedEvents([created, large, ...others].map((event) => ({ stream, event }))))
  const { class: kind, tools } = added.data
  const update = (ordinal: number, patch: MessageUpdated['data']['patch']): MessageUpdated => ({
    type: 'MessageUpdated',
    data: { externalId: `m${ordinal}`, ordinal, patch, class: kind, tools, parts: headOfParts([part]) },
  })
  const removals = Array.from({ length: MANY - 1 }, (_, i) => ({
    op: 'remove' as const,
    path: `/parts/${MANY - 1 - i}`,
  }))
  const events = [
    update(0, [{ op: 'replace', path: '/parts/0', value: part }, ...removals]),
    ...others.map((_, i) =>
      update(i + 1, [
        { op: 'replace', path: '/role', value: 'system' },
        { op: 'replace', path: '/timestamp', value: MANY + i },
      ]),
    ),
  ]
  const decoded = decodedEvents(events.map((event) => ({ stream, event })))
  for (const projection of [parts, messages, traces]) {
    const plans = await plansOf(one, projection, decoded)
    assert.ok(plans.length > 0)
    for (const plan of plans) assert.ok(inVain(plan) < 10 * MANY, `${projection.name}: ${inVain(plan)}`)
  }
  assert.equal(await one.rows('select part_count as n from messages where ordinal = 0'), [{ n: 1 }])
  assert.equal(await one.rows(`select count(*)::int as n from messages where role = 'system'`), [{ n: MANY }])
  assert.equal(await one.rows('select started_at, ended_at from traces'), [
    { started_at: MANY, ended_at: 2 * MANY - 1 },
  ])
  // When a trace began and ended is the first and last entry of an index, however many messages it has.
  const timed = decodedEvents([{ stream, event: update(1, [{ op: 'replace', path: '/timestamp', value: 0 }]) }])
  const [, times] = await plansOf(one, messages, timed)
  assert.ok(mostRows(times!) <= 2, JSON.stringify(times))
})

test.run()
