import type { InviteView } from '../../contract/invites.ts'
import type { NamespaceInfo, NamespaceView } from '../../contract/namespaces.ts'
import type { PresentNamespace } from './decide.ts'
import { type Invite, inviteState } from './invite.ts'

/** The field `avatarUrl` for the stored picture, or no field. Each picture has its own URL, so that caches can keep it. */
export const avatarField = (slug: string, storageId: string | null | undefined): { avatarUrl?: string } =>
  storageId ? { avatarUrl: `/v1/namespaces/${slug}/avatar?v=${encodeURIComponent(storageId)}` } : {}

/** The view of a namespace from its state, for the answer to a write; without `role` if the user is not a member. */
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

/** The view of a namespace for one of its members. */
export const toNamespaceInfo = (id: string, state: PresentNamespace, userId: string): NamespaceInfo => ({
  ...toNamespaceView(id, state, userId),
  role: state.members.get(userId)!.role,
})

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
