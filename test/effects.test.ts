import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../projections/index.ts'
import type { DecodedEvent } from '../src/engine/projection.ts'
import { type AnyEvent, formats } from '../src/events.ts'
import { PUBLIC_TRACES, effectOf, repeated, tracesIn, tracesNamed } from '../src/effects.ts'
import type { Reader } from '../src/http/long-list.ts'

const test = suite('the effects of events')

const caller = { userId: 'user', identityId: 'identity', sessionId: 'session', expiresAt: undefined }
const readers = {
  anybody: { caller: undefined, namespaceId: 'space', traceId: 'trace', isMember: false },
  stranger: { caller, namespaceId: 'space', traceId: 'trace', isMember: false },
  member: { caller, namespaceId: 'space', traceId: 'trace', isMember: true },
  lister: { caller, namespaceId: 'space', traceId: undefined, isMember: true },
} satisfies Record<string, Reader>

type Name = keyof typeof readers

const decoded = (
  { type, streamId, data }: { type: AnyEvent['type']; streamId: string; data?: object },
  position = 1n,
) => ({ type, streamId, position, data: { externalId: 'name', ...data } }) as DecodedEvent

/** Which of the readers an event ends; the lister is about to show the trace `shown`. */
const ended = (event: DecodedEvent): Name[] => {
  const { ends } = effectOf(event)
  const shows = (id: string) => id === 'shown'
  return (Object.keys(readers) as Name[]).filter((name) => ends?.({ reader: readers[name], shows }))
}

const visibility = (value: string) => ({ patch: [{ op: 'replace', path: '/visibility', value }] })

for (const [name, event, expected] of [
  ['a deletion ends all', { type: 'TraceDeleted', streamId: 'trace' }, ['anybody', 'stranger', 'member']],
  ['another one does not', { type: 'TraceDeleted', streamId: 'other' }, []],
  [
    'privacy ends strangers',
    { type: 'TraceUpdated', streamId: 'trace', data: visibility('private') },
    ['anybody', 'stranger'],
  ],
  [
    'so does `direct`',
    { type: 'TraceUpdated', streamId: 'trace', data: visibility('direct') },
    ['anybody', 'stranger'],
  ],
  ['a trace made public ends nobody', { type: 'TraceUpdated', streamId: 'trace', data: visibility('public') }, []],
  ['nor does a title', { type: 'TraceUpdated', streamId: 'trace', data: { patch: [] } }, []],
  [
    'a removal ends the user there',
    { type: 'MemberRemoved', streamId: 'space', data: { userId: 'user' } },
    ['stranger', 'member', 'lister'],
  ],
  ['not another user', { type: 'MemberRemoved', streamId: 'space', data: { userId: 'else' } }, []],
  ['not elsewhere', { type: 'MemberRemoved', streamId: 'place', data: { userId: 'user' } }, []],
  ['a revocation ends the session', { type: 'SessionRevoked', streamId: 'session' }, ['stranger', 'member', 'lister']],
  [
    'a removed identity ends the sessions made with it',
    { type: 'IdentityRemoved', streamId: 'user', data: { identityId: 'identity' } },
    ['stranger', 'member', 'lister'],
  ],
  ['not those of another one', { type: 'IdentityRemoved', streamId: 'user', data: { identityId: 'other' } }, []],
  ['not another one', { type: 'SessionRevoked', streamId: 'other' }, []],
  ['a role is no matter', { type: 'MemberRoleChanged', streamId: 'space', data: { userId: 'user' } }, []],
] as const) {
  test(name, () => assert.equal(ended(decoded(event)), expected))
}

test('a list of traces ends when a trace that it is about to show is deleted', () => {
  assert.equal(ended(decoded({ type: 'TraceDeleted', streamId: 'shown' })).at(-1), 'lister')
})

test('privacy of a trace that a page is about to show ends strangers', () => {
  const event = decoded({ type: 'TraceUpdated', streamId: 'shown', data: visibility('private') })
  assert.equal(ended(event), ['anybody', 'stranger'])
})

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
    const { callers, ends } = effectOf(decoded({ type, streamId: 'x', data }))
    assert.is(callers, undefined, type)
    assert.is(ends, undefined, type)
  }
})

test('an event of a repeated type has the effect of any other one in its stream', () => {
  for (const type of repeated as ReadonlySet<AnyEvent['type']>) {
    const effect = (data: object) => effectOf(decoded({ type, streamId: 'trace', data }))
    assert.equal(effect({}), { topics: ['trace'], callers: undefined, ends: undefined }, type)
    assert.equal(effect({ patch: [{ op: 'remove', path: '/visibility' }] }), effect({}), type)
  }
})

test.run()
