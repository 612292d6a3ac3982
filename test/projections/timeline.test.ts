import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sweepTimeline } from '../../projections/timeline/sweep.ts'
import { MESSAGES_UPSERTED } from '../../src/tables/timeline.ts'
import { timeline } from '../../projections/timeline/timeline.ts'
import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import type { AnyEvent } from '../../src/server/events.ts'
import { NO_EARLIER, withDeletion, earlierFields } from '../../src/server/trace/earlier-deletions.ts'
import { type Model, NOON, type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('projections: the timeline')

const models = await openModels(timeline)
test.after(() => models.close())

const namespaceId = randomUUID()
const created: AnyEvent = {
  type: 'TraceCreated',
  data: { externalId: 't', namespaceId, createdBy: 'ada', agentId: 'a', visibility: 'private' },
}
const counts = { user_message: 1, agent_context: 0, agent_text: 0, agent_thinking: 0, tool_call: 0 }
const counted: AnyEvent = {
  type: 'MessagesCounted',
  data: { messageCount: 1, messageTypeCounts: counts, toolTypeCounts: {} },
}
const added = (ordinal: number): AnyEvent => ({
  type: 'MessageAdded',
  data: {
    externalId: `m${ordinal}`,
    ordinal,
    role: 'user',
    class: 'user_message',
    tools: [],
    parts: [],
  },
})
const updated: AnyEvent = {
  type: 'MessageUpdated',
  data: { externalId: 'm0', ordinal: 0, class: 'user_message', tools: [], patch: [] },
}
const deleted = (externalId: string): AnyEvent => ({
  type: 'TraceDeleted',
  data: { externalId, namespaceId, createdBy: 'ada', createdAt: 0, messageCount: 1, earlier: [] },
})

const shown = async (events: readonly StreamEvent[], batches = 1) => {
  const model = await models.model()
  const all = decodedEvents(events)
  const size = Math.ceil(all.length / batches)
  for (let i = 0; i < all.length; i += size) await model.apply(all.slice(i, i + size))
  const rows = await model.rows<Record<string, unknown>>(
    'select type, first_revision, revision, through, added, updated, ordinal, adds, updates, actor, namespace_id, data from entries order by position',
  )
  await model.close()
  return rows
}

test('the messages of a request are one entry, with the counts after them; requests that share an append have one each', async () => {
  const stream = `trace-${randomUUID()}`
  const one = { stream, append: 'x', request: 'r1', actor: 'ada' }
  const two = { stream, append: 'x', request: 'r2', actor: 'bob' }
  const rows = await shown([
    { stream, event: created },
    { ...one, event: added(0) },
    { ...one, event: added(1) },
    { ...one, event: counted },
    { ...two, event: updated },
    { ...two, event: counted },
    { ...two, append: 'y', event: added(2) },
  ])
  assert.equal(
    rows.map(({ type, first_revision, revision, added, updated, actor }) => [
      type,
      Number(first_revision),
      Number(revision),
      added,
      updated,
      actor,
    ]),
    [
      ['TraceCreated', 0, 0, null, null, null],
      [MESSAGES_UPSERTED, 1, 3, 2, 0, 'ada'],
      [MESSAGES_UPSERTED, 4, 5, 0, 1, 'bob'],
      [MESSAGES_UPSERTED, 6, 6, 1, 0, 'bob'],
    ],
  )
  assert.equal(JSON.parse(rows[1]!.data as string), counted.data)
})

test('an entry belongs to the namespace of its trace, also in a later batch', async () => {
  const stream = `trace-${randomUUID()}`
  const patch: AnyEvent = { type: 'TraceUpdated', data: { patch: [{ op: 'add', path: '/title', value: 'T' }] } }
  const rows = await shown(
    [
      { stream, event: created },
      { stream, event: patch },
      { stream: `namespace-${namespaceId}`, event: { type: 'MemberRemoved', data: { userId: 'bob' } } },
    ],
    3,
  )
  assert.equal(
    rows.map((row) => row.namespace_id),
    [namespaceId, namespaceId, namespaceId],
  )
})

test('invite codes are masked, and addresses are left out', async () => {
  const stream = `namespace-${namespaceId}`
  const code = 'SECRETCODE'
  const rows = await shown([
    {
      stream,
      event: {
        type: 'InviteCreated',
        data: { code, invitedBy: 'ada', role: 'member', expiresAt: 1, email: 'bob@example.org' },
      },
    },
    { stream, event: { type: 'MemberJoined', data: { userId: 'bob', role: 'member', code } } },
    { stream, event: { type: 'InviteRevoked', data: { code } } },
  ])
  const text = rows.map(({ data }) => data).join()
  assert.not.match(text, code)
  assert.not.match(text, 'bob@example.org')
  assert.is(text.split('SECR…').length, 4)
})

test('a run of new messages has its beginning, an update its place, and whether it moves the message', async () => {
  const stream = `trace-${randomUUID()}`
  const [one, two] = [
    { stream, append: 'x', request: 'r1' },
    { stream, append: 'x', request: 'r2' },
  ]
  const moved: AnyEvent = {
    type: 'MessageUpdated',
    data: { ...updated.data, patch: [{ op: 'add', path: '/order', value: 1 }] },
  } as AnyEvent
  const rows = await shown([
    { stream, event: created },
    { ...one, event: added(0) },
    { ...one, event: added(1) },
    { ...one, event: updated },
    { ...one, event: added(2) },
    { ...two, event: moved },
    { ...two, event: counted },
  ])
  assert.equal(
    rows.slice(1).map(({ ordinal, adds, updates, through }) => [ordinal, adds, updates, Number(through)]),
    [
      [0, '[[0,1,2],[2,4,1]]', '[[0,3,0]]', 6],
      [null, null, '[[0,5,1]]', 6],
    ],
  )
})

const sweepAll = async (model: Model) => {
  const [{ schema }] = (await model.rows('select current_schema() as schema')) as [{ schema: string }]
  const client = {
    query: async (text: string, values: unknown[]) => ({
      rowCount: (await model.rows(`${text} returning 1`, values)).length,
    }),
  }
  while (await sweepTimeline(client as never, schema)) continue
}

test('after a deletion, its entry stays and older entries are noted for the sweep', async () => {
  const stream = `trace-${randomUUID()}`
  const model = await models.model()
  const events = decodedEvents([
    { stream, event: created },
    { stream, event: added(0) },
    { stream, event: deleted('t') },
    { stream, event: created },
  ])
  await model.apply(events.slice(0, 1))
  await model.apply(events.slice(1))
  const [left] = await model.rows<{ before: bigint }>('select before from obsolete_entries')
  const types = async () =>
    (await model.rows<{ type: string }>('select type from entries order by position')).map(({ type }) => type)
  assert.is(left!.before, 2n)
  assert.equal(await types(), ['TraceCreated', 'TraceDeleted', 'TraceCreated'], 'what another batch has written')
  await sweepAll(model)
  assert.equal(await types(), ['TraceDeleted', 'TraceCreated'])
  assert.equal(await model.rows('select * from obsolete_entries'), [])
  await model.close()
})

/** Gives the deletions of a trace, each of which tells of those before it. */
const newDeletions = (stream: string, externalId: string) => {
  let before = NO_EARLIER
  return (at: number, messageCount: number): StreamEvent => {
    const data = { externalId, namespaceId, createdBy: 'ada', createdAt: NOON, messageCount, ...earlierFields(before) }
    before = withDeletion(data, at, 'bob')
    return { stream, event: { type: 'TraceDeleted', data }, actor: 'bob', at }
  }
}

const told = "select * from entries where type = 'TraceDeleted' order by position, place"

test('entries of earlier deletions are made from the last one, read at once, in parts, or after their erasure', async () => {
  for (const count of [2, 3, 25]) {
    const stream = `trace-${randomUUID()}`
    const deletion = newDeletions(stream, 't')
    const lives = Array.from({ length: count }, (_, i) => [{ stream, event: created }, deletion(NOON + i, i)])
    const events = decodedEvents(lives.flat())
    const [inParts, atOnce, erased] = [await models.model(), await models.model(), await models.model()]
    for (const event of events) await inParts.apply([event])
    await atOnce.apply(events)
    await erased.apply(events.slice(-1))
    const rows = await inParts.rows<{ at: bigint; actor: string; data: string }>(told)
    const least = Math.max(0, count - 21)
    assert.equal(
      rows.map(({ at }) => Number(at) - NOON),
      Array.from({ length: count - least }, (_, i) => least + i),
    )
    assert.equal([...new Set(rows.map(({ actor }) => actor))], ['bob'])
    assert.equal(JSON.parse(rows[0]!.data), { externalId: 't', createdAt: NOON, messageCount: least })
    assert.equal(await atOnce.rows(told), rows)
    assert.equal(await erased.rows(told), rows)
    for (const model of [inParts, atOnce, erased]) await model.close()
  }
})

const TRACES = 3
const act = fc.record({ on: fc.nat(TRACES), does: fc.constantFrom('write', 'write', 'delete') })

/** What happens in a namespace: to it, or to one of its traces, which a write makes where it is not there. */
const historyOf = (acts: readonly { on: number; does: string }[]): StreamEvent[] => {
  const traces = Array.from({ length: TRACES }, (_, i) => {
    const stream = `trace-${randomUUID()}`
    return { stream, deletion: newDeletions(stream, `t${i}`), messages: -1 }
  })
  return acts.flatMap(({ on, does }, i): StreamEvent[] => {
    const trace = traces[on]
    if (!trace)
      return [{ stream: `namespace-${namespaceId}`, event: { type: 'MemberRemoved', data: { userId: 'bob' } } }]
    const { stream, messages } = trace
    trace.messages = does === 'delete' ? -1 : messages + 1
    if (does === 'delete') return messages < 0 ? [] : [trace.deletion(NOON + i, messages)]
    return [{ stream, event: messages < 0 ? created : added(messages) }]
  })
}

/** What is left of a log when the first so many deletions are erased. */
const withoutErased = (events: readonly DecodedEvent[], erasures: number): DecodedEvent[] => {
  const erased = events.filter(({ type }) => type === 'TraceDeleted').slice(0, erasures)
  const before = new Map(erased.map(({ stream, revision }) => [stream, revision]))
  return events.filter(({ stream, revision }) => revision >= (before.get(stream) ?? 0n))
}

test('after repeated deletions the rows are the same for any batches and after any erasures', async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 })
  const property = fc.asyncProperty(
    fc.array(act, { minLength: 8, maxLength: 30 }),
    fc.nat(12),
    cuts,
    cuts,
    async (acts, erasures, ...sizes) => {
      const events = decodedEvents(historyOf(acts))
      const ends = await Promise.all(
        [events, withoutErased(events, erasures)].map(async (log, i) => {
          const model = await models.model()
          for (let at = 0, batch = 0; at < log.length; batch++) {
            const size = sizes[i]![batch % sizes[i]!.length]!
            await model.apply(log.slice(at, at + size))
            at += size
          }
          await sweepAll(model)
          const rows = [
            await model.rows('select * from entries order by position, place'),
            await model.rows('select * from entry_traces order by trace_id'),
          ]
          await model.close()
          return rows
        }),
      )
      assert.equal(ends[1], ends[0])
    },
  )
  await fc.assert(property, { numRuns: 60 })
})

test.run()
