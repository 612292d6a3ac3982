import { suite } from 'uvu'
import type { Decision } from '../../../src/eventstore/engine/stream.ts'
import { noCounts, patch, traces, unlessDeleted, upsert } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { ifRevision } from '../../../src/server/trace/expected-revision.ts'
import { upsertMessages } from '../../../src/server/trace/messages/decide.ts'
import { toUpsert } from '../../../src/server/trace/messages/message.ts'
import type { UserRole } from '../../../src/server/trace/policy.ts'
import { NOON, type Past, specify } from '../../support/given.ts'

const test = suite('trace/expected-revision')

const ada: UserRole = { userId: 'ada', role: 'member' }
const origin = { externalId: 'x', namespaceId: 'n' }
const createdAs = (title: string): TraceEvent => ({
  type: 'TraceCreated',
  data: { ...origin, createdBy: 'ada', agentId: 'a', title, visibility: 'private' },
})
const created = createdAs('First')
const deleted: TraceEvent = {
  type: 'TraceDeleted',
  data: { ...origin, createdBy: 'ada', createdAt: NOON, messageCount: 0, earlier: [] },
}
const updated = (title?: string): TraceEvent => ({
  type: 'TraceUpdated',
  data: { patch: title === undefined ? [] : [{ op: 'replace', path: '/title', value: title }] },
})
const message = toUpsert('m', { role: 'user', textContent: 'one' })
const counted = { class: 'user_message', tools: [] as string[] } as const
const added: TraceEvent = {
  type: 'MessageAdded',
  data: { externalId: 'm', ordinal: 0, ...message.given, ...counted, heads: message.heads, parts: [] },
}
const counts: TraceEvent = {
  type: 'MessagesCounted',
  data: {
    messageCount: 1,
    messageTypeCounts: { ...noCounts.messageTypeCounts, user_message: 1 },
    toolTypeCounts: {},
  },
}

const given = (...past: Past<TraceEvent>[]) => {
  const { when } = specify(traces)(...past)
  return {
    /** Decides at an expected revision. */
    when: (expected: number, decide: Parameters<typeof when>[0]) =>
      when(decide, undefined, ifRevision(BigInt(expected))),
  }
}
type Decide = Decision<TraceState, TraceEvent>
const rename: Decide = patch(ada, { title: 'Second' })
const put: Decide = upsert(ada, origin, { agentId: 'a', title: 'Second' })
const write = upsertMessages(ada, [message])

test('events are appended at the expected revision, and refused at any other', () => {
  given(created).when(0, write).emits(added, counts)
  given(created, updated()).when(1, write).emits(added, counts)
  for (const expected of [0, 2, 2 ** 50]) given(created, updated()).when(expected, write).rejects('changed')
  given(created).when(0, rename).emitsThen(updated(), updated('Second'))
  given(created, updated()).when(0, rename).rejects('changed')
})

test('what changes nothing is no conflict, so a request can be repeated', () => {
  given(created, added, counts).when(0, write).emits()
  for (const decide of [rename, put])
    given(createdAs('Second'), added, counts).when(0, decide).emitsThen(updated(), updated())
})

test('a refusal of the decision itself comes first', () => {
  const eve: UserRole = { userId: 'eve', role: 'member' }
  given(created, updated())
    .when(0, patch(eve, { title: 'Second' }))
    .rejects('forbidden')
  given().when(7, write).rejects('not_found')
  given(created, deleted).when(1, unlessDeleted(put)).rejects('deleted')
})

test('a trace that does not exist counts as revision 0, also if it was deleted', () => {
  for (const past of [[], [created, deleted]]) {
    given(...past)
      .when(0, put)
      .emitsThen(updated(), createdAs('Second'))
    for (const expected of [1, 7])
      given(...past)
        .when(expected, put)
        .rejects('changed')
  }
})

test('the revisions of a trace that is created again go on', () => {
  given(created, deleted, created).when(0, write).rejects('changed')
  given(created, deleted, created).when(2, write).emits(added, counts)
})

test.run()
