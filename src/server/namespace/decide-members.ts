import type { Role } from '../../contract/namespaces.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import {
  type DecideNamespace,
  type Membership,
  type PresentNamespace,
  assertAdmin,
  assertMember,
  presentNamespace,
} from './decide.ts'
import type { NamespaceEvent } from './events.ts'
import { inviteState } from './invite.ts'

export const NO_MEMBER = 'The namespace has no member with this user id: check the id'

const findMember = ({ members }: PresentNamespace, userId: string): Membership => {
  const member = members.get(userId)
  if (!member) throw new Rejected('not_found', NO_MEMBER)
  return member
}

const isLastAdmin = ({ members }: PresentNamespace, { role }: Membership): boolean => {
  if (role !== 'admin') return false
  let admins = 0
  for (const member of members.values()) if (member.role === 'admin') admins++
  return admins === 1
}

/** A namespace must always have an admin. @throws Rejected last_admin */
const assertNotLastAdmin = (state: PresentNamespace, member: Membership) => {
  if (isLastAdmin(state, member))
    throw new Rejected(
      'last_admin',
      'This member is the last admin of the namespace: make another member an admin first',
    )
}

/** Changes the role of a member, as an admin. @throws Rejected forbidden, not_found, last_admin */
export const changeRole =
  (actorId: string, userId: string, role: Role): DecideNamespace =>
  (before) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    const member = findMember(state, userId)
    if (member.role === role) return []
    assertNotLastAdmin(state, member)
    return [{ type: 'MemberRoleChanged', data: { userId, role } }]
  }

const revokeInvitesOf = ({ invites }: PresentNamespace, userId: string, now: number): NamespaceEvent[] => {
  const pending = [...invites].filter(
    ([, invite]) => invite.invitedBy === userId && inviteState(invite, now) === 'pending',
  )
  return pending.map(([code]) => ({ type: 'InviteRevoked', data: { code } }))
}

/**
 * Removes a member, as an admin or as that member, and revokes the pending invites that the member made.
 * @throws Rejected forbidden, not_found, last_admin
 */
export const removeMember =
  (actorId: string, userId: string): DecideNamespace =>
  (before, now) => {
    const state = presentNamespace(before)
    if (actorId === userId) assertMember(state, actorId)
    else assertAdmin(state, actorId)
    assertNotLastAdmin(state, findMember(state, userId))
    return [{ type: 'MemberRemoved', data: { userId } }, ...revokeInvitesOf(state, userId, now)]
  }

/**
 * Removes a user whom an operator takes out of the service, and revokes the pending invites that the user made. The last admin
 * stays a member, because a namespace must always have one.
 */
export const takeOutMember =
  (userId: string): DecideNamespace =>
  (before, now) => {
    const state = presentNamespace(before)
    const member = state.members.get(userId)
    if (!member) return []
    const revoked = revokeInvitesOf(state, userId, now)
    return isLastAdmin(state, member) ? revoked : [{ type: 'MemberRemoved', data: { userId } }, ...revoked]
  }
