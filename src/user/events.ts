import { z } from 'zod'
import { formatsOf } from '../engine/codec.ts'
import { event } from '../engine/stream.ts'

export const IdentityType = z.enum(['device', 'codehost'])
export type IdentityType = z.infer<typeof IdentityType>

export const ProviderData = z.object({ login: z.string(), avatarUrl: z.string().optional() })
export type ProviderData = z.infer<typeof ProviderData>

/**
 * Stream `user-<id>`. That an identity was removed stands here, not in its own stream: of two removals at once the later
 * one must see the earlier one, for one identity has to stay.
 */
export const UserEvent = z.discriminatedUnion('type', [
  event('UserCreated', { displayName: z.string().optional() }),
  event('UserRenamed', { displayName: z.string() }),
  event('IdentityRemoved', { identityId: z.string() }),
])
export type UserEvent = z.infer<typeof UserEvent>
export const userFormats = formatsOf(UserEvent)

/** Stream `identity-<id>`. `key` is the SHA-256 of the externalId, which is a credential for a device. */
export const IdentityEvent = z.discriminatedUnion('type', [
  event('IdentityCreated', {
    userId: z.string(),
    type: IdentityType,
    key: z.string(),
    providerData: ProviderData.optional(),
    email: z.string().optional(),
    emailVerified: z.boolean().optional(),
  }),
  event('IdentityRefreshed', {
    providerData: ProviderData.optional(),
    email: z.string().optional(),
    emailVerified: z.boolean().optional(),
  }),
])
export type IdentityEvent = z.infer<typeof IdentityEvent>
export const identityFormats = formatsOf(IdentityEvent)
