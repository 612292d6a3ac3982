import type { Role } from '../contract/namespaces.ts'
import { Rejected } from '../engine/rejected.ts'
import { type DecideNamespace, type PresentNamespace, assertAdmin, presentNamespace } from './decide.ts'
import { INVITE_LIFETIME_MS, type Invite, isAddressedTo, inviteState } from './invite.ts'

export type InviteTerms = {
  readonly code: string
  readonly role: Role
  readonly email?: string
  readonly maxUses?: number
}

const findInvite = ({ invites }: PresentNamespace, code: string): Invite => {
  const invite = invites.get(code)
  if (!invite) throw new Rejected('not_found', 'Not found')
  return invite
}

/** Creates an invite that expires after 24 hours, as an admin. @throws Rejected forbidden */
export const createInvite =
  (actorId: string, terms: InviteTerms): DecideNamespace =>
  (before, now) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    const { code, role, email, maxUses } = terms
    if (state.invites.has(code)) return []
    const limits = { ...(email === undefined ? {} : { email }), ...(maxUses === undefined ? {} : { maxUses }) }
    const expiresAt = now + INVITE_LIFETIME_MS
    return [{ type: 'InviteCreated', data: { code, invitedBy: actorId, role, expiresAt, ...limits } }]
  }

/** Revokes an invite, as an admin; also one that is expired or used up. @throws Rejected forbidden, not_found */
export const revokeInvite =
  (actorId: string, code: string): DecideNamespace =>
  (before) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    return findInvite(state, code).revokedAt === undefined ? [{ type: 'InviteRevoked', data: { code } }] : []
  }

const rejectionOf = { revoked: 'invite_revoked', expired: 'invite_expired', accepted: 'invite_used' } as const

/** Whether an invite would undo a younger decision of an admin. */
const liftsOverFall = ({ falls }: PresentNamespace, userId: string, { number, role }: Invite): boolean => {
  const fall = falls.get(userId)
  if (!fall) return false
  return number < fall.removedBehind || (role === 'admin' && number < fall.demotedBehind)
}

/**
 * Makes the user a member, and spends one use of the invite. Does nothing for a member.
 * @throws Rejected invite_revoked, invite_expired, invite_used; forbidden when the invite is for another e-mail address, or older
 * than the removal or demotion of the user
 */
export const acceptInvite =
  (user: { readonly id: string; readonly verifiedEmails: readonly string[] }, code: string): DecideNamespace =>
  (before, now) => {
    const state = presentNamespace(before)
    const invite = findInvite(state, code)
    if (state.members.has(user.id)) return []
    const inviteIs = inviteState(invite, now)
    if (inviteIs !== 'pending')
      throw new Rejected(rejectionOf[inviteIs], `The invite is ${inviteIs === 'accepted' ? 'used up' : inviteIs}`)
    if (!isAddressedTo(invite, user.verifiedEmails))
      throw new Rejected('forbidden', 'The invite is for another e-mail address')
    if (liftsOverFall(state, user.id, invite))
      throw new Rejected('forbidden', 'The invite is older than your removal, or loss of the role: ask for another one')
    const { role, invitedBy } = invite
    return [{ type: 'MemberJoined', data: { userId: user.id, role, invitedBy, code } }]
  }
