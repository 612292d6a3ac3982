import { z } from 'zod'
import { count, id as idOf, text, time } from '../contract/fields.ts'
import { UserView } from '../contract/user.ts'
import type { PresentNamespace } from './decide.ts'
import { NamespaceType, RetentionDays, Role } from './events.ts'
import { type Invite, inviteState } from './invite.ts'

const slug = text('The name of the namespace in addresses, unique in the service', 'my-team')
const displayName = text('The name of the namespace', 'My team')
const avatarUrl = text('The path of the picture on this service; absent without one').optional()

/** A namespace in an answer. `role` is that of the caller, for members only. */
export const NamespaceView = z
  .object({
    id: idOf('the namespace'),
    slug,
    displayName,
    description: text('What the namespace is for').optional(),
    type: NamespaceType,
    role: Role.meta({ description: 'The role of the caller; absent for one who is no member' }).optional(),
    retentionDays: RetentionDays.meta({
      description:
        'Traces that have not changed for so many days are deleted; absent: they are kept for ever. For members only',
      examples: [365],
    }).optional(),
    avatarUrl,
  })
  .meta({ id: 'Namespace', description: 'A namespace: the owner of traces' })
export type NamespaceView = z.infer<typeof NamespaceView>

/** A namespace in an answer to one of its members. */
export const NamespaceInfo = NamespaceView.extend({ role: Role }).meta({
  id: 'NamespaceInfo',
  description: 'A namespace as one of its members sees it, with the role of that member',
})
export type NamespaceInfo = z.infer<typeof NamespaceInfo>

export const MemberView = z
  .object({
    user: UserView,
    role: Role,
    invitedBy: idOf('the user who made the invite').optional(),
    joinedAt: time('When the user joined'),
  })
  .meta({ id: 'Member', description: 'A member of a namespace' })
export type MemberView = z.infer<typeof MemberView>

export const InviteStateView = z.enum(['pending', 'accepted', 'revoked', 'expired']).meta({
  id: 'InviteState',
  description: '`pending`: can be accepted; `accepted`: no use is left; `revoked`: taken back; `expired`: too old',
})

/** An invite in an answer to an admin. Times are milliseconds. */
export const InviteView = z
  .object({
    code: text('The secret that the invite is accepted with: 9 letters and digits', 'a1B2c3D4e'),
    namespaceId: idOf('the namespace'),
    invitedBy: idOf('the admin who made the invite'),
    role: Role,
    createdAt: time('When the invite was made'),
    expiresAt: time('When the invite ends: 24 hours after it was made'),
    email: text('Who may accept: only a user with this e-mail address, verified', 'ada@example.org').optional(),
    maxUses: count('How many may accept; 0: any number. Absent: one').optional(),
    useCount: count('How many have accepted'),
    acceptedAt: time('When the invite was first accepted').optional(),
    acceptedBy: idOf('the user who accepted first').optional(),
    revokedAt: time('When the invite was revoked').optional(),
    state: InviteStateView,
  })
  .meta({ id: 'Invite', description: 'An invite to a namespace, as its admins see it' })
export type InviteView = z.infer<typeof InviteView>

/** An invite in an answer to a caller who has its code. */
export const PublicInvite = z
  .object({
    namespace: z
      .object({ slug, displayName, avatarUrl })
      .meta({ description: 'The namespace that the invite leads to' }),
    role: Role,
    expiresAt: time('When the invite ends'),
    state: InviteStateView,
  })
  .meta({ id: 'PublicInvite', description: 'An invite as those who have its code see it' })
export type PublicInvite = z.infer<typeof PublicInvite>

/** The field `avatarUrl` for the stored picture, or no field. Each picture has its own URL, so that caches can keep it. */
export const avatarField = (slug: string, storageId: string | null | undefined): { avatarUrl?: string } =>
  storageId ? { avatarUrl: `/v1/namespaces/${slug}/avatar?v=${encodeURIComponent(storageId)}` } : {}

/** The view of a namespace from its state, for an answer to a write; without `role` when the user is no member. */
export const toNamespaceView = (id: string, state: PresentNamespace, userId: string): NamespaceView => {
  const { slug, displayName, description, type, retentionDays } = state
  const role = state.members.get(userId)?.role
  return {
    id,
    slug,
    displayName,
    ...(description === undefined ? {} : { description }),
    type,
    ...(role === undefined ? {} : { role }),
    ...(role === undefined || retentionDays === undefined ? {} : { retentionDays }),
    ...avatarField(slug, state.avatarStorageId),
  }
}

/** The view of an invite from its state, for the answer to its creation. */
export const toInviteView = (namespaceId: string, code: string, invite: Invite, now: number): InviteView => {
  const { invitedBy, role, createdAt, expiresAt, email, maxUses, useCount } = invite
  return {
    code,
    namespaceId,
    invitedBy,
    role,
    createdAt,
    expiresAt,
    ...(email === undefined ? {} : { email }),
    ...(maxUses === undefined ? {} : { maxUses }),
    useCount,
    state: inviteState(invite, now),
  }
}
