import { z } from 'zod'
import { UserView } from '../user/queries.ts'
import type { PresentNamespace } from './decide.ts'
import { NamespaceType, Role } from './events.ts'
import { type Invite, stateOf } from './invite.ts'

/** A namespace as anybody sees it; `role` only for a member (interface: Namespaces). */
export const NamespaceView = z
  .object({
    id: z.string(),
    slug: z.string(),
    displayName: z.string(),
    description: z.string().optional(),
    type: NamespaceType,
    role: Role.optional(),
    avatarUrl: z.string().optional(),
  })
  .meta({ id: 'Namespace' })
export type NamespaceView = z.infer<typeof NamespaceView>

/** The same as a member sees it. */
export const NamespaceInfo = NamespaceView.extend({ role: Role }).meta({ id: 'NamespaceInfo' })
export type NamespaceInfo = z.infer<typeof NamespaceInfo>

export const MemberView = z
  .object({ user: UserView, role: Role, invitedBy: z.string().optional(), joinedAt: z.int() })
  .meta({ id: 'Member' })
export type MemberView = z.infer<typeof MemberView>

export const InviteStateView = z.enum(['pending', 'accepted', 'revoked', 'expired']).meta({ id: 'InviteState' })

/** An invite as admins see it; times are milliseconds. */
export const InviteView = z
  .object({
    code: z.string(),
    namespaceId: z.string(),
    invitedBy: z.string(),
    role: Role,
    createdAt: z.int(),
    expiresAt: z.int(),
    email: z.string().optional(),
    maxUses: z.int().optional(),
    useCount: z.int(),
    acceptedAt: z.int().optional(),
    acceptedBy: z.string().optional(),
    revokedAt: z.int().optional(),
    state: InviteStateView,
  })
  .meta({ id: 'Invite' })
export type InviteView = z.infer<typeof InviteView>

/** An invite as whoever has its code sees it. */
export const PublicInvite = z
  .object({
    namespace: z.object({ slug: z.string(), displayName: z.string(), avatarUrl: z.string().optional() }),
    role: Role,
    expiresAt: z.int(),
    state: InviteStateView,
  })
  .meta({ id: 'PublicInvite' })
export type PublicInvite = z.infer<typeof PublicInvite>

/** Where a namespace's avatar is served; another picture has another address. */
export const avatarOf = (slug: string, storageId: string | null | undefined): { avatarUrl?: string } =>
  storageId ? { avatarUrl: `/v1/namespaces/${slug}/avatar?v=${encodeURIComponent(storageId)}` } : {}

/** A namespace right after a decision, as one of its members sees it; without `role` for who is none. */
export const viewOf = (id: string, state: PresentNamespace, userId: string): NamespaceView => {
  const { slug, displayName, description, type } = state
  const role = state.members.get(userId)?.role
  return {
    id,
    slug,
    displayName,
    ...(description === undefined ? {} : { description }),
    type,
    ...(role === undefined ? {} : { role }),
    ...avatarOf(slug, state.avatarStorageId),
  }
}

/** An invite right after it was made. */
export const newInviteView = (namespaceId: string, code: string, invite: Invite, now: number): InviteView => {
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
    state: stateOf(invite, now),
  }
}
