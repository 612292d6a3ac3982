import { z } from 'zod'
import { flag, id as idOf, text, time } from '../http/fields.ts'
import { Key } from '../http/keys.ts'
import { Role } from '../namespace/events.ts'
import { NamespaceInfo } from '../namespace/views.ts'
import { UserView } from '../user/queries.ts'

/** For a new user; with an identity that has a user already it is not looked at. */
export const InviteCode = Key.meta({
  description:
    'The code of an invite that a new user accepts with the sign-up: needed where only the invited may sign up',
})

/** Of a body that begins a session. */
export const WantedNamespace = z
  .string()
  .max(256)
  .meta({
    description:
      'The id of the namespace that the session shall be active in: one that the user is a member of. Default: the oldest ' +
      'individual one of the user, else the one that they joined first',
  })

export const deviceName = { description: 'What the user calls the device', examples: ['my laptop'] }

/** The namespace that a session is active in; absent when the user has none left. */
const active = {
  namespaceId: idOf('the namespace that the session is active in; absent when the user has none').optional(),
  namespaceSlug: text('The slug of this namespace', 'my-team').optional(),
  role: Role.meta({ description: 'The role of the user in this namespace' }).optional(),
}

const session = {
  id: idOf('the session'),
  userId: idOf('the user'),
  identityId: idOf('the identity that the user has signed in with'),
}

const shownDeviceName = z.string().meta(deviceName).optional()
const expiresAt = time('When the session ends').optional()

/** A session right after it was made, the only time that its token is shown. */
export const NewSession = z
  .object({
    ...session,
    token: text('The secret for `Authorization: Bearer …`; it is shown here and never again'),
    ...active,
    deviceName: shownDeviceName,
    expiresAt,
  })
  .meta({ id: 'NewSession', description: 'A session that was just made' })
export type NewSession = z.infer<typeof NewSession>

/** The caller's session; times are milliseconds. */
export const CurrentSession = z
  .object({
    session: z
      .object({
        ...session,
        ...active,
        deviceName: shownDeviceName,
        lastUsedAt: time('When the session was last used'),
        expiresAt,
      })
      .meta({ description: 'The session that the request came with' }),
    user: UserView,
    namespace: NamespaceInfo.meta({ description: 'The namespace that the session is active in' }).optional(),
    role: Role.meta({ description: 'The role of the user in this namespace' }).optional(),
    csrfToken: text('What the header `x-csrf-token` needs; for callers with a cookie only').optional(),
    logId: z
      .string()
      .meta({ description: 'Another one when the service has another log, or its log has lost its end' })
      .optional(),
  })
  .meta({ id: 'CurrentSession', description: 'The session of a request, with its user and namespace' })
export type CurrentSession = z.infer<typeof CurrentSession>

/** One of the caller's sessions; `namespaceId` is the one that it was told to be active in. */
export const SessionView = z
  .object({
    ...session,
    namespaceId: idOf('the namespace that was chosen for the session, if one was').optional(),
    deviceName: shownDeviceName,
    createdAt: time('When the session began'),
    lastUsedAt: time('When the session was last used').optional(),
    expiresAt,
    current: flag('Whether this request came with it'),
  })
  .meta({ id: 'Session', description: 'A session of the caller' })
export type SessionView = z.infer<typeof SessionView>
