import { z } from 'zod'
import { Key } from '../http/keys.ts'
import { Role } from '../namespace/events.ts'
import { NamespaceInfo } from '../namespace/views.ts'
import { UserView } from '../user/queries.ts'

/** For a new user; with an identity that has a user already it is not looked at. */
export const InviteCode = Key.meta({
  description:
    'The code of an invite that a new user accepts with the sign-up: needed where only the invited may sign up',
})

/** The namespace that a session is active in; absent when the user has none left. */
const active = { namespaceId: z.string().optional(), namespaceSlug: z.string().optional(), role: Role.optional() }

/** A session right after it was made, the only time that its token is shown. */
export const NewSession = z
  .object({
    id: z.string(),
    token: z.string(),
    userId: z.string(),
    identityId: z.string(),
    ...active,
    deviceName: z.string().optional(),
    expiresAt: z.int().optional(),
  })
  .meta({ id: 'NewSession' })
export type NewSession = z.infer<typeof NewSession>

/** The caller's session; times are milliseconds. */
export const CurrentSession = z
  .object({
    session: z.object({
      id: z.string(),
      userId: z.string(),
      identityId: z.string(),
      ...active,
      deviceName: z.string().optional(),
      lastUsedAt: z.int(),
      expiresAt: z.int().optional(),
    }),
    user: UserView,
    namespace: NamespaceInfo.optional(),
    role: Role.optional(),
    csrfToken: z.string().optional(),
    logId: z
      .string()
      .meta({ description: 'Another one when the service has another log, or its log has lost its end' })
      .optional(),
  })
  .meta({ id: 'CurrentSession' })
export type CurrentSession = z.infer<typeof CurrentSession>

/** One of the caller's sessions; `namespaceId` is the one that it was told to be active in. */
export const SessionView = z
  .object({
    id: z.string(),
    userId: z.string(),
    identityId: z.string(),
    namespaceId: z.string().optional(),
    deviceName: z.string().optional(),
    createdAt: z.int(),
    lastUsedAt: z.int().optional(),
    expiresAt: z.int().optional(),
    /** Whether this request came with it. */
    current: z.boolean(),
  })
  .meta({ id: 'Session' })
export type SessionView = z.infer<typeof SessionView>
