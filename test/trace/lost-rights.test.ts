import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DecodedEvent } from '../../src/engine/projection.ts'
import type { AnyEvent } from '../../src/events.ts'
import { newRecentLosses } from '../../src/http/recent-losses.ts'
import { type Reader, lossOf } from '../../src/trace/lost-rights.ts'

const test = suite('trace: rights that are lost while reading')

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
) => ({ type, streamId, position, data: data ?? {} }) as DecodedEvent

/** Which of the readers an event ends; the lister is about to show the trace `shown`. */
const ended = (event: DecodedEvent): Name[] => {
  const ends = lossOf(event)
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

test('a list of traces ends when what it is about to show is deleted', () => {
  assert.equal(ended(decoded({ type: 'TraceDeleted', streamId: 'shown' })).at(-1), 'lister')
})

test('what happened behind a snapshot is remembered, and it is known what is forgotten', () => {
  const losses = newRecentLosses(2)
  const sending = { reader: readers.anybody, shows: () => false }
  losses.note(decoded({ type: 'TraceDeleted', streamId: 'trace' }, 3n))
  losses.note(decoded({ type: 'MessageAdded', streamId: 'trace' }, 4n))
  assert.is(losses.since(2n, sending), 'lost')
  assert.is(losses.since(3n, sending), 'kept')
  for (let position = 5n; position < 9n; position++)
    losses.note(decoded({ type: 'TraceDeleted', streamId: 'x' }, position))
  assert.is(losses.since(2n, sending), 'unknown')
  assert.is(losses.since(6n, sending), 'kept')
})

test.run()
