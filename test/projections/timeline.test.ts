import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MESSAGES_UPSERTED, timeline } from '../../projections/timeline.ts'
import type { AnyEvent } from '../../src/events.ts'
import { type StreamEvent, decodedEvents, openModels } from './support.ts'

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
    digest: 'd',
    parts: [],
  },
})
const updated: AnyEvent = {
  type: 'MessageUpdated',
  data: { externalId: 'm0', ordinal: 0, class: 'user_message', tools: [], digest: 'e', partCount: 0, patch: [] },
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
    'select type, first_revision, revision, added, updated, actor, namespace_id, data from entries order by position',
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

test('codes of invites are masked, and addresses are left out', async () => {
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

test('a deletion leaves itself and the revision up to which nothing else may be shown', async () => {
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
  const [trace] = await model.rows<{ deleted: bigint }>('select deleted from entry_traces')
  const rows = await model.rows<{ type: string }>('select type from entries order by position')
  assert.is(trace!.deleted, 2n)
  assert.equal(
    rows.map(({ type }) => type),
    ['TraceCreated', 'TraceDeleted', 'TraceCreated'],
    'what another batch has written is swept later',
  )
  await model.close()
})

test.run()
