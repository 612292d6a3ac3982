import { z } from 'zod'
import { NamespaceType, RetentionDays, Role } from '../../contract/namespaces.ts'
import { formatsOf } from '../../eventstore/engine/codec.ts'
import { event } from '../../eventstore/engine/stream.ts'

/** Who has chosen a namespace and its slug: the service, for the new user of `createdBy`, or that user. */
export const ClaimedBy = z.enum(['system', 'user'])
export type ClaimedBy = z.infer<typeof ClaimedBy>

/** Stream `namespace-<id>`: the namespace with its members and invites. Times are milliseconds. */
export const NamespaceEvent = z.discriminatedUnion('type', [
  event('NamespaceCreated', {
    slug: z.string(),
    displayName: z.string(),
    description: z.string().optional(),
    type: NamespaceType,
    claimedBy: ClaimedBy,
    createdBy: z.string(),
  }),
  event('NamespaceUpdated', { displayName: z.string().optional(), description: z.string().optional() }),
  event('AvatarChanged', { storageId: z.string() }),
  /** After this many days without a change traces are deleted; null: they are kept for ever, as before the first such event. */
  event('RetentionChanged', { retentionDays: RetentionDays.nullable() }),
  event('MemberJoined', {
    userId: z.string(),
    role: Role,
    invitedBy: z.string().optional(),
    /** The code of the invite that was accepted; its use is counted by this event. */
    code: z.string().optional(),
  }),
  event('MemberRoleChanged', { userId: z.string(), role: Role }),
  event('MemberRemoved', { userId: z.string() }),
  event('InviteCreated', {
    code: z.string(),
    invitedBy: z.string(),
    role: Role,
    expiresAt: z.int(),
    email: z.string().optional(),
    maxUses: z.int().optional(),
  }),
  event('InviteRevoked', { code: z.string() }),
])
export type NamespaceEvent = z.infer<typeof NamespaceEvent>
export const namespaceFormats = formatsOf(NamespaceEvent)
