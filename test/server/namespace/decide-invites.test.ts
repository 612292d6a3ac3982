import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { namespaces } from '../../../src/server/namespace/decide.ts'
import { acceptInvite, createInvite, revokeInvite } from '../../../src/server/namespace/decide-invites.ts'
import type { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { INVITE_LIFETIME_MS, inviteState } from '../../../src/server/namespace/invite.ts'
import { specify } from '../../support/given.ts'

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

test('an admin creates an invite for 24 hours', () =>
  given(...founded)
    .when(createInvite('ada', terms), NOW)
    .emits(invited({ expiresAt: NOW + INVITE_LIFETIME_MS })))
test('an invite keeps its e-mail address and its number of uses', () =>
  given(...founded)
    .when(createInvite('ada', { ...terms, maxUses: 0, email: 'eve@example.org' }), NOW)
    .emits(invited({ expiresAt: NOW + INVITE_LIFETIME_MS, email: 'eve@example.org', maxUses: 0 })))
test('a member cannot create an invite', () =>
  given(...founded)
    .when(createInvite('bob', terms))
    .rejects('forbidden'))
test('an unknown namespace has no invites', () => given().when(createInvite('ada', terms)).rejects('not_found'))

test('an admin revokes an invite', () =>
  given(...founded, invited())
    .when(revokeInvite('ada', 'abc'))
    .emits(revoked))
test('a member cannot revoke an invite', () =>
  given(...founded, invited())
    .when(revokeInvite('bob', 'abc'))
    .rejects('forbidden'))
test('an unknown invite cannot be revoked', () =>
  given(...founded)
    .when(revokeInvite('ada', 'abc'))
    .rejects('not_found'))

test('a user accepts an invite', () =>
  given(...founded, invited())
    .when(acceptInvite(user('eve'), 'abc'), NOW)
    .emits(accepted('eve')))
test('an unknown invite cannot be accepted', () =>
  given(...founded)
    .when(acceptInvite(user('eve'), 'abc'), NOW)
    .rejects('not_found'))
test('an invite is used up after one use', () =>
  given(...founded, invited(), accepted('eve'))
    .when(acceptInvite(user('flo'), 'abc'), NOW)
    .rejects('invite_used'))
test('an invite for two uses has one left after the first', () =>
  given(...founded, invited({ maxUses: 2 }), accepted('eve'))
    .when(acceptInvite(user('flo'), 'abc'), NOW)
    .emits(accepted('flo')))
test('zero uses mean that an invite is unlimited', () =>
  given(...founded, invited({ maxUses: 0 }), accepted('eve'), accepted('flo'))
    .when(acceptInvite(user('gus'), 'abc'), NOW)
    .emits(accepted('gus')))
test('an expired invite cannot be accepted', () =>
  given(...founded, invited())
    .when(acceptInvite(user('eve'), 'abc'), SOON)
    .rejects('invite_expired'))
test('a revoked invite cannot be accepted', () =>
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
test('an invite for an e-mail address can be accepted with it', () =>
  given(...founded, bound)
    .when(acceptInvite(user('eve', 'other@example.org', 'eve@example.ORG'), 'abc'), NOW)
    .emits(accepted('eve')))
test('an invite for an e-mail address cannot be accepted with another one', () =>
  given(...founded, bound)
    .when(acceptInvite(user('flo', 'flo@example.org'), 'abc'), NOW)
    .rejects('forbidden'))

test('an invite for an e-mail address cannot be accepted with one that only Unicode lower case makes equal', () => {
  const forKevin = given(...founded, invited({ email: 'Kevin@kraken.example' }))
  forKevin.when(acceptInvite(user('kevin', 'KEVIN@KRAKEN.EXAMPLE'), 'abc'), NOW).emits(accepted('kevin'))
  for (const address of ['\u212Aevin@kraken.example', 'kevin@\u212Araken.example'])
    forKevin.when(acceptInvite(user('eve', address), 'abc'), NOW).rejects('forbidden')
})

test('the state of an invite follows from its use, its revocation and the time', () => {
  const open = { expiresAt: SOON, maxUses: undefined, useCount: 0, revokedAt: undefined }
  assert.is(inviteState(open, NOW), 'pending')
  assert.is(inviteState({ ...open, useCount: 1 }, NOW), 'accepted')
  assert.is(inviteState({ ...open, maxUses: 2, useCount: 1 }, NOW), 'pending')
  assert.is(inviteState({ ...open, maxUses: 0, useCount: 9 }, NOW), 'pending')
  assert.is(inviteState(open, SOON), 'expired')
  assert.is(inviteState({ ...open, revokedAt: NOW }, SOON), 'revoked')
})

test.run()
