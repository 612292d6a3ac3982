import { Rejected } from '../engine/rejected.ts'
import { type DecideNamespace, type PresentNamespace, assertAdmin, existing } from './decide.ts'
import type { Role } from './events.ts'
import { INVITE_LIFETIME_MS, type Invite, isFor, stateOf } from './invite.ts'

export type InviteTerms = {
  readonly code: string
  readonly role: Role
  readonly email?: string
  readonly maxUses?: number
}

const inviteOf = ({ invites }: PresentNamespace, code: string): Invite => {
  const invite = invites.get(code)
  if (!invite) throw new Rejected('not_found', 'Not found')
  return invite
}

/** Makes an invite that lives for 24 hours, as an admin. @throws Rejected forbidden */
export const createInvite =
  (actorId: string, terms: InviteTerms): DecideNamespace =>
  (before, now) => {
    const state = existing(before)
    assertAdmin(state, actorId)
    const { code, role, email, maxUses } = terms
    if (state.invites.has(code)) return []
    const limits = { ...(email === undefined ? {} : { email }), ...(maxUses === undefined ? {} : { maxUses }) }
    const expiresAt = now + INVITE_LIFETIME_MS
    return [{ type: 'InviteCreated', data: { code, invitedBy: actorId, role, expiresAt, ...limits } }]
  }

/** Takes an invite back, as an admin, in whatever state it is. @throws Rejected forbidden, not_found */
export const revokeInvite =
  (actorId: string, code: string): DecideNamespace =>
  (before) => {
    const state = existing(before)
    assertAdmin(state, actorId)
    return inviteOf(state, code).revokedAt === undefined ? [{ type: 'InviteRevoked', data: { code } }] : []
  }

const rejections = { revoked: 'invite_revoked', expired: 'invite_expired', accepted: 'invite_used' } as const

/**
 * Joins by an invite, which costs one of its uses; who is a member already spends none.
 * @throws Rejected invite_revoked, invite_expired, invite_used; forbidden without the verified address that it is for
 */
export const acceptInvite =
  (user: { readonly id: string; readonly verifiedEmails: readonly string[] }, code: string): DecideNamespace =>
  (before, now) => {
    const state = existing(before)
    const invite = inviteOf(state, code)
    if (state.members.has(user.id)) return []
    const is = stateOf(invite, now)
    if (is !== 'pending') throw new Rejected(rejections[is], `The invite is ${is === 'accepted' ? 'used up' : is}`)
    if (!isFor(invite, user.verifiedEmails)) throw new Rejected('forbidden', 'The invite is for another e-mail address')
    const { role, invitedBy } = invite
    return [{ type: 'MemberJoined', data: { userId: user.id, role, invitedBy, code } }]
  }
