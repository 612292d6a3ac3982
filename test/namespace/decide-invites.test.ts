import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { namespaces } from '../../src/namespace/decide.ts'
import { acceptInvite, createInvite, revokeInvite } from '../../src/namespace/decide-invites.ts'
import type { NamespaceEvent } from '../../src/namespace/events.ts'
import { INVITE_LIFETIME_MS, inviteState } from '../../src/namespace/invite.ts'
import { specify } from '../support/given.ts'

const given = specify(namespaces)
const test = suite('invites')

const NOW = Date.UTC(2026, 0, 2)
const SOON = NOW + 1_000
const founded: NamespaceEvent[] = [
  {
    type: 'NamespaceCreated',
    data: { slug: 'acme', displayName: 'Acme', type: 'org', claimedBy: 'user', createdBy: 'ada' },
  },
  { type: 'MemberJoined', data: { userId: 'ada', role: 'admin' } },
  { type: 'MemberJoined', data: { userId: 'bob', role: 'member' } },
]
type Terms = { email?: string; maxUses?: number; expiresAt?: number }
const invited = ({ expiresAt = SOON, ...limits }: Terms = {}): NamespaceEvent => ({
  type: 'InviteCreated',
  data: { code: 'abc', invitedBy: 'ada', role: 'admin', expiresAt, ...limits },
})
const accepted = (userId: string): NamespaceEvent => ({
  type: 'MemberJoined',
  data: { userId, role: 'admin', invitedBy: 'ada', code: 'abc' },
})
const revoked: NamespaceEvent = { type: 'InviteRevoked', data: { code: 'abc' } }
const user = (id: string, ...verifiedEmails: string[]) => ({ id, verifiedEmails })
const terms = { code: 'abc', role: 'admin' } as const

test('an admin makes one for 24 hours', () =>
  given(...founded)
    .when(createInvite('ada', terms), NOW)
    .emits(invited({ expiresAt: NOW + INVITE_LIFETIME_MS })))
test('its limits are kept', () =>
  given(...founded)
    .when(createInvite('ada', { ...terms, maxUses: 0, email: 'eve@example.org' }), NOW)
    .emits(invited({ expiresAt: NOW + INVITE_LIFETIME_MS, email: 'eve@example.org', maxUses: 0 })))
test('a member makes none', () =>
  given(...founded)
    .when(createInvite('bob', terms))
    .rejects('forbidden'))
test('a namespace that is not there has none', () => given().when(createInvite('ada', terms)).rejects('not_found'))

test('an admin revokes it', () =>
  given(...founded, invited())
    .when(revokeInvite('ada', 'abc'))
    .emits(revoked))
test('a member does not', () =>
  given(...founded, invited())
    .when(revokeInvite('bob', 'abc'))
    .rejects('forbidden'))
test('an unknown one cannot be revoked', () =>
  given(...founded)
    .when(revokeInvite('ada', 'abc'))
    .rejects('not_found'))

test('a guest accepts it', () =>
  given(...founded, invited())
    .when(acceptInvite(user('eve'), 'abc'), NOW)
    .emits(accepted('eve')))
test('an unknown one leads nowhere', () =>
  given(...founded)
    .when(acceptInvite(user('eve'), 'abc'), NOW)
    .rejects('not_found'))
test('it is used up after one', () =>
  given(...founded, invited(), accepted('eve'))
    .when(acceptInvite(user('flo'), 'abc'), NOW)
    .rejects('invite_used'))
test('of two uses one is left', () =>
  given(...founded, invited({ maxUses: 2 }), accepted('eve'))
    .when(acceptInvite(user('flo'), 'abc'), NOW)
    .emits(accepted('flo')))
test('zero means unlimited', () =>
  given(...founded, invited({ maxUses: 0 }), accepted('eve'), accepted('flo'))
    .when(acceptInvite(user('gus'), 'abc'), NOW)
    .emits(accepted('gus')))
test('it dies of age', () =>
  given(...founded, invited())
    .when(acceptInvite(user('eve'), 'abc'), SOON)
    .rejects('invite_expired'))
test('it dies when revoked', () =>
  given(...founded, invited(), revoked)
    .when(acceptInvite(user('eve'), 'abc'), SOON)
    .rejects('invite_revoked'))
for (const [how, past, now] of [
  ['revoked', [invited(), revoked], NOW],
  ['expired', [invited()], SOON],
  ['used up', [invited(), accepted('eve')], NOW],
] as const) {
  test(`a member spends no use of one that is ${how}`, () =>
    given(...founded, ...past)
      .when(acceptInvite(user('bob'), 'abc'), now)
      .emits())
}

const bound = invited({ email: 'Eve@Example.org' })
test('one for an address takes who has it', () =>
  given(...founded, bound)
    .when(acceptInvite(user('eve', 'other@example.org', 'eve@example.ORG'), 'abc'), NOW)
    .emits(accepted('eve')))
test('and nobody else', () =>
  given(...founded, bound)
    .when(acceptInvite(user('flo', 'flo@example.org'), 'abc'), NOW)
    .rejects('forbidden'))

test('nor who has one that only looks the same in lower case', () => {
  const forKevin = given(...founded, invited({ email: 'Kevin@kraken.example' }))
  forKevin.when(acceptInvite(user('kevin', 'KEVIN@KRAKEN.EXAMPLE'), 'abc'), NOW).emits(accepted('kevin'))
  for (const address of ['\u212Aevin@kraken.example', 'kevin@\u212Araken.example'])
    forKevin.when(acceptInvite(user('eve', address), 'abc'), NOW).rejects('forbidden')
})

test('its state follows from what happened and from the time', () => {
  const open = { expiresAt: SOON, maxUses: undefined, useCount: 0, revokedAt: undefined }
  assert.is(inviteState(open, NOW), 'pending')
  assert.is(inviteState({ ...open, useCount: 1 }, NOW), 'accepted')
  assert.is(inviteState({ ...open, maxUses: 2, useCount: 1 }, NOW), 'pending')
  assert.is(inviteState({ ...open, maxUses: 0, useCount: 9 }, NOW), 'pending')
  assert.is(inviteState(open, SOON), 'expired')
  assert.is(inviteState({ ...open, revokedAt: NOW }, SOON), 'revoked')
})

test.run()
