import type { Role } from '../../contract/namespaces.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { type DecideNamespace, type PresentNamespace, assertAdmin, presentNamespace } from './decide.ts'
import { INVITE_LIFETIME_MS, type Invite, isAddressedTo, inviteState } from './invite.ts'

type InviteTerms = {
  readonly code: string
  readonly role: Role
  readonly email?: string
  readonly maxUses?: number
}

export const NO_INVITE = 'No invite has this code: check the code, or ask for another invite'

const findInvite = ({ invites }: PresentNamespace, code: string): Invite => {
  const invite = invites.get(code)
  if (!invite) throw new Rejected('not_found', NO_INVITE)
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

/** Revokes an invite, as an admin, even if it has expired or has no uses left. @throws Rejected forbidden, not_found */
export const revokeInvite =
  (actorId: string, code: string): DecideNamespace =>
  (before) => {
    const state = presentNamespace(before)
    assertAdmin(state, actorId)
    return findInvite(state, code).revokedAt === undefined ? [{ type: 'InviteRevoked', data: { code } }] : []
  }

const rejections = {
  revoked: () => new Rejected('invite_revoked', 'An admin has revoked this invite: ask for another one'),
  expired: () => new Rejected('invite_expired', 'This invite is older than 24 hours: ask for another one'),
  accepted: () => new Rejected('invite_used', 'This invite has no uses left: ask for another one'),
}

/** Whether an invite would undo a later decision of an admin: the removal or the demotion of the user. */
const undoesLoss = ({ lostRights }: PresentNamespace, userId: string, { number, role }: Invite): boolean => {
  const lost = lostRights.get(userId)
  if (!lost) return false
  return number < lost.removedAfter || (role === 'admin' && number < lost.demotedAfter)
}

/**
 * Makes the user a member, and spends one use of the invite. Does nothing for a member.
 * @throws Rejected invite_revoked, invite_expired, invite_used; forbidden if the invite is for another e-mail address, or older
 * than the removal or demotion of the user
 */
export const acceptInvite =
  (user: { readonly id: string; readonly verifiedEmails: readonly string[] }, code: string): DecideNamespace =>
  (before, now) => {
    const state = presentNamespace(before)
    const invite = findInvite(state, code)
    if (state.members.has(user.id)) return []
    const inviteIs = inviteState(invite, now)
    if (inviteIs !== 'pending') throw rejections[inviteIs]()
    if (!isAddressedTo(invite, user.verifiedEmails))
      throw new Rejected(
        'forbidden',
        'This invite is for another e-mail address: sign in with an account that has that address, or ask for another invite',
      )
    if (undoesLoss(state, user.id, invite))
      throw new Rejected(
        'forbidden',
        'An admin has removed you, or taken the role of admin from you, since this invite was made: ask for another one',
      )
    const { role, invitedBy } = invite
    return [{ type: 'MemberJoined', data: { userId: user.id, role, invitedBy, code } }]
  }
