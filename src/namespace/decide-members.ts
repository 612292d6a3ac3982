import { Rejected } from '../engine/rejected.ts'
import {
  type DecideNamespace,
  type Member,
  type PresentNamespace,
  assertAdmin,
  assertMember,
  existing,
} from './decide.ts'
import type { NamespaceEvent, Role } from './events.ts'
import { stateOf } from './invite.ts'

const memberOf = ({ members }: PresentNamespace, userId: string): Member => {
  const member = members.get(userId)
  if (!member) throw new Rejected('not_found', 'Not found')
  return member
}

/** A namespace always keeps an admin. */
const assertNotLastAdmin = ({ members }: PresentNamespace, { role }: Member) => {
  if (role !== 'admin') return
  let admins = 0
  for (const member of members.values()) if (member.role === 'admin') admins++
  if (admins === 1) throw new Rejected('last_admin', 'The last admin can neither leave nor step down')
}

/** Gives a member another role, as an admin. @throws Rejected forbidden, not_found, last_admin */
export const changeRole =
  (actorId: string, userId: string, role: Role): DecideNamespace =>
  (before) => {
    const state = existing(before)
    assertAdmin(state, actorId)
    const member = memberOf(state, userId)
    if (member.role === role) return []
    assertNotLastAdmin(state, member)
    return [{ type: 'MemberRoleChanged', data: { userId, role } }]
  }

const openInvitesOf = ({ invites }: PresentNamespace, userId: string, now: number): NamespaceEvent[] => {
  const open = [...invites].filter(([, invite]) => invite.invitedBy === userId && stateOf(invite, now) === 'pending')
  return open.map(([code]) => ({ type: 'InviteRevoked', data: { code } }))
}

/**
 * Removes a member, as an admin or oneself, together with the open invites that this member made.
 * @throws Rejected forbidden, not_found, last_admin
 */
export const removeMember =
  (actorId: string, userId: string): DecideNamespace =>
  (before, now) => {
    const state = existing(before)
    if (actorId === userId) assertMember(state, actorId)
    else assertAdmin(state, actorId)
    assertNotLastAdmin(state, memberOf(state, userId))
    return [{ type: 'MemberRemoved', data: { userId } }, ...openInvitesOf(state, userId, now)]
  }
