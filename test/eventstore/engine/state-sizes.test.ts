import { randomUUID } from 'node:crypto'
import v8 from 'node:v8'
import vm from 'node:vm'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import type { DomainEvent, Loaded, StreamKind } from '../../../src/eventstore/engine/stream.ts'
import { newTransactor } from '../../../src/eventstore/engine/transact.ts'
import { formats } from '../../../src/server/events.ts'
import type { EventLog } from '../../../src/eventstore/log/log.ts'
import { namespaces } from '../../../src/server/namespace/decide.ts'
import type { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { sessions } from '../../../src/server/session/decide.ts'
import { upsertMessages } from '../../../src/server/trace/messages/decide.ts'
import { traces } from '../../../src/server/trace/decide.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { trimTrace } from '../../../src/server/trace/state-size.ts'
import { toUpsert } from '../../../src/server/trace/messages/message.ts'
import { identities, users } from '../../../src/server/user/decide.ts'

const test = suite('engine: the estimated size of states')

/** A state as one that came out of the log: with texts of its own. */
const fold = <State, Event extends DomainEvent>(kind: StreamKind<State, Event>, events: readonly Event[]): State =>
  (JSON.parse(JSON.stringify(events)) as Event[]).reduce(
    (state, event, i) => kind.evolve(state, event, { at: 1_767_225_600_000 + i, actor: { userId: 'u' } }),
    kind.initial(),
  )

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

const namespace = (more: (i: number) => NamespaceEvent, count: number) => () => {
  const data = { slug: randomUUID(), displayName: 'Team', type: 'org', claimedBy: 'user', createdBy: randomUUID() }
  return fold(namespaces, [{ type: 'NamespaceCreated', data } as NamespaceEvent, ...times(count, more)])
}

const member = (): NamespaceEvent => ({
  type: 'MemberJoined',
  data: { userId: randomUUID(), role: 'member', invitedBy: randomUUID(), code: 'abcdefghi' },
})

const invite = (): NamespaceEvent => ({
  type: 'InviteCreated',
  data: { code: randomUUID(), invitedBy: randomUUID(), role: 'member', expiresAt: Date.now(), email: randomUUID() },
})

const fields = () => ({ externalId: randomUUID(), namespaceId: randomUUID(), createdBy: randomUUID(), agentId: 'a' })
const trace = (more: object = {}) =>
  fold(traces, [{ type: 'TraceCreated', data: { ...fields(), visibility: 'private', ...more } }])

type Body = Parameters<typeof toUpsert>[1]

/** A trace with messages, as memory keeps it. */
const written = (count: number, body: (i: number) => Body) => () => {
  const upserts = times(count, (i) => toUpsert(randomUUID(), JSON.parse(JSON.stringify(body(i))) as Body))
  const state = trace()
  const { events } = upsertMessages({ userId: 'u', role: 'admin' }, upserts)(state, 1, 1)
  const all = events.reduce((before, event) => traces.evolve(before, event, { at: 1_767_225_600_000 }), state)
  return trimTrace(all)
}

const calls = (count: number): Body => ({
  role: 'assistant',
  parts: times(count, () => ({
    type: 'tool_call',
    content: { callId: 'c', toolName: `${randomUUID()}${randomUUID()}`, args: {} },
  })),
})

const deletions = (count: number) => () => {
  const earlier = times(count, () => ({
    ...{ createdAt: Date.now(), deletedAt: Date.now(), deletedBy: randomUUID() },
    messageCount: 1,
  }))
  const data = { ...fields(), createdAt: 1, messageCount: 0, earlier }
  return fold(traces, [{ type: 'TraceDeleted', data } as TraceEvent])
}

const identity = () => ({
  ...{ userId: randomUUID(), type: 'codehost' as const, key: randomUUID(), email: randomUUID(), emailVerified: true },
  providerData: { login: randomUUID(), avatarUrl: `https://example.org/${randomUUID()}` },
})

type Kind = { readonly sizeOf: (state: never) => number }

const states: Readonly<Record<string, readonly [Kind, number, () => unknown]>> = {
  'a user': [users, 5_000, () => fold(users, [{ type: 'UserCreated', data: { displayName: randomUUID() } }])],
  'a user with a long name': [
    users,
    100,
    () => fold(users, [{ type: 'UserCreated', data: { displayName: `${randomUUID()}ä€`.repeat(1_000) } }]),
  ],
  'a user who has removed many identities': [
    users,
    20,
    () => {
      const removals = times(500, () => ({ type: 'IdentityRemoved' as const, data: { identityId: randomUUID() } }))
      return fold(users, [{ type: 'UserCreated', data: {} }, ...removals])
    },
  ],
  'an identity': [identities, 5_000, () => fold(identities, [{ type: 'IdentityCreated', data: identity() }])],
  'a session': [
    sessions,
    5_000,
    () =>
      fold(sessions, [
        {
          type: 'SessionCreated',
          data: {
            userId: randomUUID(),
            identityId: 'i',
            tokenHash: 't',
            namespaceId: randomUUID(),
            expiresAt: Date.now(),
          },
        },
      ]),
  ],
  'a namespace': [namespaces, 5_000, namespace(member, 1)],
  'a namespace with many members': [namespaces, 3, namespace(member, 10_000)],
  'a namespace with many invites': [namespaces, 3, namespace(invite, 10_000)],
  'a trace': [traces, 5_000, () => trace()],
  'a trace with a long title': [traces, 100, () => trace({ title: randomUUID().repeat(1_000) })],
  'a trace that was often deleted': [traces, 1_000, deletions(500)],
  'a trace with many messages': [traces, 10, written(3_000, (i) => ({ role: 'user', textContent: `${i}` }))],
  'a trace with many tool names': [traces, 20, written(500, () => calls(10))],
  'a trace with long messages': [
    traces,
    50,
    written(8, () => ({ role: 'user', textContent: randomUUID().repeat(110) })),
  ],
  'a trace with messages of many parts': [traces, 50, written(8, () => calls(25))],
}

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc') as () => void

const used = () => {
  for (let i = 0; i < 2; i++) collect() // what the first one finalises goes with the second
  return process.memoryUsage().heapUsed
}

for (const [what, [kind, count, make]] of Object.entries(states)) {
  test(`${what} takes about its estimated size in memory`, () => {
    const before = used()
    const held = new Map(times(count, () => [randomUUID(), { state: make() }]))
    const taken = (used() - before) / count
    const size = [...held.values()].reduce((sum, { state }) => sum + kind.sizeOf(state as never), 0) / count
    assert.ok(size > taken * 0.8 && size < taken * 3, `takes ${Math.round(taken)}, estimated as ${Math.round(size)}`)
  })
}

test('the cache holds no more large states than its budget allows', async () => {
  const budget = 8 * 1024 * 1024
  const transactor = newTransactor({
    kind: namespaces,
    source: {
      load: async (): Promise<Loaded<ReturnType<typeof namespaces.initial>>> => ({
        state: namespace(member, 10_000)(),
        revision: 10_000n,
        at: 1,
        position: 1n,
      }),
      readsLog: true,
    },
    log: {} as EventLog,
    codec: newCodec(formats),
    now: Date.now,
    budget,
  })
  const ids = times(20, () => randomUUID())
  for (const id of ids) await transactor.transact(id, { decide: () => [], answer: () => {} }, {})
  const held = ids.flatMap((id) => transactor.peek(id) ?? [])
  assert.ok(held.length > 0)
  assert.ok(held.reduce((sum, state) => sum + namespaces.sizeOf(state), 0) <= budget, `${held.length} are held`)
})

test.run()
