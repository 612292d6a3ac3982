import { suite } from 'uvu'
import {
  changeAvatar,
  claimNamespace,
  createNamespace,
  namespaces,
  updateNamespace,
} from '../../../src/server/namespace/decide.ts'
import { changeRole, removeMember, takeOutMember } from '../../../src/server/namespace/decide-members.ts'
import type { NamespaceEvent } from '../../../src/server/namespace/events.ts'
import { specify } from '../../support/given.ts'

const given = specify(namespaces)
const test = suite('namespace')

const terms = { slug: 'acme', displayName: 'Acme', type: 'org', createdBy: 'ada' } as const
const created: NamespaceEvent = { type: 'NamespaceCreated', data: { ...terms, claimedBy: 'user' } }
const claimed: NamespaceEvent = { type: 'NamespaceCreated', data: { ...terms, claimedBy: 'system' } }
const joined = (userId: string, role: 'admin' | 'member'): NamespaceEvent => ({
  type: 'MemberJoined',
  data: { userId, role },
})
const founded = [created, joined('ada', 'admin')]
const staffed = [...founded, joined('bob', 'member')]

test('the creator of a namespace becomes its admin', () =>
  given()
    .when(createNamespace(terms))
    .emitsOnce('slug_taken', ...founded))
test('a new user claims a namespace, and may repeat it', () =>
  given().when(claimNamespace(terms)).emits(claimed, joined('ada', 'admin')))
test('a namespace that a user has created cannot be claimed', () =>
  given(...founded)
    .when(claimNamespace(terms))
    .rejects('slug_taken'))
test('the individual namespace of another user cannot be claimed', () =>
  given(claimed, joined('ada', 'admin'))
    .when(claimNamespace({ ...terms, createdBy: 'eve' }))
    .rejects('slug_taken'))

const renamed: NamespaceEvent = { type: 'NamespaceUpdated', data: { displayName: 'Acme 2' } }
test('an admin renames a namespace', () =>
  given(...staffed)
    .when(updateNamespace('ada', { displayName: 'Acme 2' }))
    .emits(renamed))
test('fields that stay the same are left out of the event', () =>
  given(...staffed)
    .when(updateNamespace('ada', { displayName: 'Acme', description: 'Tools' }))
    .emits({ type: 'NamespaceUpdated', data: { description: 'Tools' } }))
test('a change without differences gives no event', () =>
  given(...staffed)
    .when(updateNamespace('ada', {}))
    .emits())
test('a member cannot change a namespace', () =>
  given(...staffed)
    .when(updateNamespace('bob', {}))
    .rejects('forbidden'))
test('a user who is not a member cannot change a namespace', () =>
  given(...staffed)
    .when(updateNamespace('eve', {}))
    .rejects('forbidden'))
test('an unknown namespace cannot be changed', () => given().when(updateNamespace('ada', {})).rejects('not_found'))

const kept = (retentionDays: number | null): NamespaceEvent => ({ type: 'RetentionChanged', data: { retentionDays } })
test('an admin says for how many days traces are kept', () =>
  given(...staffed)
    .when(updateNamespace('ada', { retentionDays: 30 }))
    .emits(kept(30)))
test('another number of days replaces the first', () =>
  given(...staffed, kept(30))
    .when(updateNamespace('ada', { retentionDays: 31 }))
    .emits(kept(31)))
test('traces are kept for ever again', () =>
  given(...staffed, kept(30))
    .when(updateNamespace('ada', { retentionDays: null }))
    .emits(kept(null)))
test('traces that are kept for ever already give no event', () =>
  given(...staffed)
    .when(updateNamespace('ada', { retentionDays: null }))
    .emits())
test('a name and a retention that change together are an event each', () =>
  given(...staffed)
    .when(updateNamespace('ada', { displayName: 'Acme 2', retentionDays: 1 }))
    .emits(renamed, kept(1)))
test('a change of the name leaves the retention as it is', () =>
  given(...staffed, kept(30))
    .when(updateNamespace('ada', { displayName: 'Acme 2' }))
    .emits(renamed))
test('a member cannot say for how long traces are kept', () =>
  given(...staffed)
    .when(updateNamespace('bob', { retentionDays: 1 }))
    .rejects('forbidden'))

const avatarChanged: NamespaceEvent = { type: 'AvatarChanged', data: { storageId: 'one' } }
test('an admin changes the avatar', () =>
  given(...staffed)
    .when(changeAvatar('ada', 'one'))
    .emits(avatarChanged))
test('another avatar replaces the first', () =>
  given(...staffed, avatarChanged)
    .when(changeAvatar('ada', 'two'))
    .emits({ type: 'AvatarChanged', data: { storageId: 'two' } }))
test('a member cannot change the avatar', () =>
  given(...staffed)
    .when(changeAvatar('bob', 'one'))
    .rejects('forbidden'))
test('a user who is not a member cannot change the avatar', () =>
  given(...staffed)
    .when(changeAvatar('eve', 'one'))
    .rejects('forbidden'))
test('an unknown namespace gets no avatar', () => given().when(changeAvatar('ada', 'one')).rejects('not_found'))

const promoted: NamespaceEvent = { type: 'MemberRoleChanged', data: { userId: 'bob', role: 'admin' } }
const demoted: NamespaceEvent = { type: 'MemberRoleChanged', data: { userId: 'ada', role: 'member' } }
test('an admin promotes a member', () =>
  given(...staffed)
    .when(changeRole('ada', 'bob', 'admin'))
    .emits(promoted))
test('a member cannot change roles', () =>
  given(...staffed)
    .when(changeRole('bob', 'bob', 'admin'))
    .rejects('forbidden'))
test('a user who is not a member has no role', () =>
  given(...staffed)
    .when(changeRole('ada', 'eve', 'admin'))
    .rejects('not_found'))
test('the last admin cannot step down', () =>
  given(...staffed)
    .when(changeRole('ada', 'ada', 'member'))
    .rejects('last_admin'))
test('one of two admins can step down', () =>
  given(...staffed, promoted)
    .when(changeRole('bob', 'ada', 'member'))
    .emits(demoted))

const removed = (userId: string): NamespaceEvent => ({ type: 'MemberRemoved', data: { userId } })
const invited = (code: string, invitedBy: string, expiresAt: number): NamespaceEvent => ({
  type: 'InviteCreated',
  data: { code, invitedBy, role: 'member', expiresAt },
})
const LATER = Date.UTC(2030, 0, 1)
const revoked = (code: string): NamespaceEvent => ({ type: 'InviteRevoked', data: { code } })
test('an admin removes a member', () =>
  given(...staffed)
    .when(removeMember('ada', 'bob'))
    .emitsOnce('not_found', removed('bob')))
test('a member leaves', () =>
  given(...staffed)
    .when(removeMember('bob', 'bob'))
    .emitsOnce('forbidden', removed('bob')))
test('a member cannot remove another member', () =>
  given(...staffed)
    .when(removeMember('bob', 'ada'))
    .rejects('forbidden'))
test('a user who is not a member cannot leave', () =>
  given(...staffed)
    .when(removeMember('eve', 'eve'))
    .rejects('forbidden'))
test('the last admin cannot leave', () =>
  given(...staffed)
    .when(removeMember('ada', 'ada'))
    .rejects('last_admin'))
test('pending invites are revoked with the member who created them, and no others', () =>
  given(
    ...staffed,
    promoted,
    invited('open', 'bob', LATER),
    invited('other', 'ada', LATER),
    invited('expired', 'bob', 1),
    invited('revoked', 'bob', LATER),
    revoked('revoked'),
    invited('used', 'bob', LATER),
    { type: 'MemberJoined', data: { userId: 'cid', role: 'member', code: 'used' } },
  )
    .when(removeMember('ada', 'bob'))
    .emitsOnce('not_found', removed('bob'), revoked('open')))

test('an operator takes a member out, with the invites of that member', () =>
  given(...staffed, promoted, invited('open', 'bob', LATER), invited('other', 'ada', LATER))
    .when(takeOutMember('bob'))
    .emits(removed('bob'), revoked('open')))
test('the last admin stays a member when an operator takes them out, but loses the invites', () =>
  given(...staffed, invited('open', 'ada', LATER))
    .when(takeOutMember('ada'))
    .emits(revoked('open')))
test('a user who is not a member is not taken out', () =>
  given(...staffed)
    .when(takeOutMember('eve'))
    .emits())

test.run()
