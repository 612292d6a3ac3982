import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../projections/index.ts'
import type { DecodedEvent } from '../../src/eventstore/engine/projection.ts'
import { type AnyEvent, formats } from '../../src/server/events.ts'
import {
  PUBLIC_ROOTS,
  PUBLIC_TRACES,
  effectOf,
  repeated,
  rootsIn,
  tracesIn,
  tracesNamed,
} from '../../src/server/effects.ts'

const test = suite('the effects of events')

const decoded = (
  { type, streamId, data }: { type: AnyEvent['type']; streamId: string; data?: object },
  position = 1n,
) => ({ type, streamId, position, data: { externalId: 'name', ...data } }) as DecodedEvent

const visibility = (value: string) => ({ patch: [{ op: 'replace', path: '/visibility', value }] })

for (const [name, type, data, takesRight] of [
  ['a deletion', 'TraceDeleted', {}, true],
  ['an erasure of the past', 'HistoryErased', {}, true],
  ['privacy', 'TraceUpdated', visibility('private'), true],
  ['`direct`', 'TraceUpdated', visibility('direct'), true],
  ['the default visibility', 'TraceUpdated', { patch: [{ op: 'remove', path: '/visibility' }] }, true],
  ['publication', 'TraceUpdated', visibility('public'), false],
  ['a title', 'TraceUpdated', { patch: [] }, false],
  ['a removal', 'MemberRemoved', { userId: 'user' }, true],
  ['a role', 'MemberRoleChanged', { userId: 'user' }, false],
  ['a revocation', 'SessionRevoked', {}, true],
  ['a removed identity', 'IdentityRemoved', { identityId: 'identity' }, true],
  ['a switch to another namespace', 'SessionSwitched', {}, false],
] as const) {
  test(`rights: ${name} takes ${takesRight ? 'one' : 'none'} away`, () =>
    assert.is(effectOf(decoded({ type, streamId: 'own', data })).takesRight, takesRight))
}

for (const [name, event, topics] of [
  [
    'a public trace is new in two lists',
    { type: 'TraceCreated', streamId: 't', data: { namespaceId: 'n', visibility: 'public' } },
    ['t', tracesIn('n'), tracesNamed('name'), PUBLIC_TRACES],
  ],
  [
    'any other in one',
    { type: 'TraceCreated', streamId: 't', data: { namespaceId: 'n', visibility: 'direct' } },
    ['t', tracesIn('n'), tracesNamed('name')],
  ],
  [
    'a visibility is the matter of the public list',
    { type: 'TraceUpdated', streamId: 't', data: visibility('public') },
    ['t', PUBLIC_TRACES],
  ],
  [
    'another parent that of the public list without sub-agents',
    { type: 'TraceUpdated', streamId: 't', data: { patch: [{ op: 'add', path: '/parentExternalId', value: 'p' }] } },
    ['t', PUBLIC_ROOTS],
  ],
  [
    'a deletion leaves sub-agents without a parent, or a parent with fewer',
    { type: 'TraceDeleted', streamId: 't', data: { namespaceId: 'n' } },
    ['t', tracesNamed('name'), rootsIn('n'), PUBLIC_ROOTS],
  ],
  ['a title of the trace alone', { type: 'TraceUpdated', streamId: 't', data: { patch: [] } }, ['t']],
  ['a message as well', { type: 'MessageAdded', streamId: 't' }, ['t']],
  [
    'a member of the namespace and of the user',
    { type: 'MemberJoined', streamId: 'n', data: { userId: 'u' } },
    ['n', 'u'],
  ],
  ['a name of the user', { type: 'UserRenamed', streamId: 'u' }, ['u']],
] as const) {
  test(`topics: ${name}`, () => assert.equal(effectOf(decoded(event)).topics, topics))
}

test('callers change with a membership, a switch, a revocation and a removed identity, and with nothing else', () => {
  const data = { userId: 'user', patch: [] }
  const callersOf = (type: AnyEvent['type']) => effectOf(decoded({ type, streamId: 'own', data })).callers
  for (const type of ['MemberJoined', 'MemberRoleChanged', 'MemberRemoved'] as const) assert.is(callersOf(type), 'user')
  for (const type of ['SessionSwitched', 'SessionRevoked', 'IdentityRemoved'] as const)
    assert.is(callersOf(type), 'own')
  for (const type of ['SessionCreated', 'TraceUpdated', 'UserRenamed', 'NamespaceUpdated'] as const)
    assert.is(callersOf(type), undefined)
})

test('every type of event has its effect, and another type is refused', () => {
  for (const type of Object.keys(formats).filter((type) => type !== 'EventSkipped'))
    assert.type(effectOf(decoded({ type: type as AnyEvent['type'], streamId: 'x', data: { patch: [] } })), 'object')
  assert.throws(
    () => effectOf(decoded({ type: 'EventSkipped' as AnyEvent['type'], streamId: 'x' })),
    /does not know its effect/,
  )
})

test('events that a crash of PostgreSQL may undo take no right away', () => {
  const data = { ...visibility('private'), userId: 'user', identityId: 'identity' }
  for (const type of mainGroup.mayBeUndone as ReadonlySet<AnyEvent['type']>) {
    const { callers, takesRight } = effectOf(decoded({ type, streamId: 'x', data }))
    assert.is(callers, undefined, type)
    assert.not(takesRight, type)
  }
})

test('an event of a repeated type has the effect of any other one in its stream', () => {
  for (const type of repeated as ReadonlySet<AnyEvent['type']>) {
    const effect = (data: object) => effectOf(decoded({ type, streamId: 'trace', data }))
    assert.equal(effect({}), { topics: ['trace'], callers: undefined, takesRight: false }, type)
    assert.equal(effect({ patch: [{ op: 'remove', path: '/visibility' }] }), effect({}), type)
  }
})

test.run()
