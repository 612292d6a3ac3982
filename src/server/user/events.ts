import { z } from 'zod'
import { IdentityType } from '../../contract/user.ts'
import { formatsOf } from '../../eventstore/engine/codec.ts'
import { event } from '../../eventstore/engine/stream.ts'

export const ProviderData = z.object({ login: z.string(), avatarUrl: z.string().optional() })
export type ProviderData = z.infer<typeof ProviderData>

/**
 * Stream `user-<id>`. The removal of an identity is an event of the user, not of the identity, so that two removals at the
 * same time are decided one after the other, and one identity stays.
 */
export const UserEvent = z.discriminatedUnion('type', [
  // `slug` is what the first call of the sign-up asked for: so the repetitions of a sign-up claim the same namespace.
  event('UserCreated', { displayName: z.string().optional(), slug: z.string().optional() }),
  event('UserRenamed', { displayName: z.string() }),
  event('IdentityRemoved', { identityId: z.string() }),
])
export type UserEvent = z.infer<typeof UserEvent>
export const userFormats = formatsOf(UserEvent)

/** Stream `identity-<id>`. `key` is a SHA-256, because a device's id is a secret that must not be stored. */
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
  event('IdentityNamed', { name: z.string() }),
])
export type IdentityEvent = z.infer<typeof IdentityEvent>
export const identityFormats = formatsOf(IdentityEvent)
