import { z } from 'zod'
import { flag, id as idOf, text, time } from '../contract/fields.ts'
import { Key } from '../contract/parameters.ts'
import { UserView } from '../contract/user.ts'
import { NamespaceInfo, Role } from '../contract/namespaces.ts'

export const EXAMPLE_CODE = '4F7K-9QWE-2M8T-X6RB-0ZHA'

/** The invite code in a body; ignored for an identity that has a user. */
export const InviteCode = Key.meta({
  description:
    'The code of an invite that a new user accepts with the sign-up: needed where only the invited may sign up',
})

/** The code in a body by which a new device becomes one of a user who exists. */
export const JoinCode = z
  .string()
  .max(256)
  .meta({
    description:
      'The code of `POST /v1/session/device`, made by another device: this one becomes one of the same user. Case, spaces ' +
      'and hyphens do not matter',
    examples: [EXAMPLE_CODE],
  })

/** The namespace in a body that starts a session. */
export const WantedNamespace = z
  .string()
  .max(256)
  .meta({
    description:
      'The id of the namespace that the session shall be active in: one that the user is a member of. Default: the oldest ' +
      'individual one of the user, else the one that they joined first',
  })

export const deviceName = { description: 'What the user calls the device', examples: ['my laptop'] }

/** The namespace that a session is active in; absent when the user is in none. */
const activeNamespace = {
  namespaceId: idOf('the namespace that the session is active in; absent when the user has none').optional(),
  namespaceSlug: text('The slug of this namespace', 'my-team').optional(),
  role: Role.meta({ description: 'The role of the user in this namespace' }).optional(),
}

const identityFields = {
  id: idOf('the session'),
  userId: idOf('the user'),
  identityId: idOf('the identity that the user has signed in with'),
}

const deviceNameField = z.string().meta(deviceName).optional()
const expiresAt = time('When the session ends').optional()

/** A session that was just started, the only view with its token. */
export const NewSession = z
  .object({
    ...identityFields,
    token: text('The secret for `Authorization: Bearer …`; it is shown here and never again'),
    ...activeNamespace,
    deviceName: deviceNameField,
    expiresAt,
  })
  .meta({ id: 'NewSession', description: 'A session that was just made' })
export type NewSession = z.infer<typeof NewSession>

/** The session of a request. Times are milliseconds. */
export const CurrentSession = z
  .object({
    session: z
      .object({
        ...identityFields,
        ...activeNamespace,
        deviceName: deviceNameField,
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
    holds: flag('Whether the service has the write that `holds` names; with `holds` only').optional(),
  })
  .meta({ id: 'CurrentSession', description: 'The session of a request, with its user and namespace' })
export type CurrentSession = z.infer<typeof CurrentSession>

/** One of the caller's sessions. `namespaceId` is the namespace that was chosen for it, if one was. */
export const SessionView = z
  .object({
    ...identityFields,
    namespaceId: idOf('the namespace that was chosen for the session, if one was').optional(),
    deviceName: deviceNameField,
    createdAt: time('When the session began'),
    lastUsedAt: time('When the session was last used').optional(),
    expiresAt,
    current: flag('Whether this request came with it'),
  })
  .meta({ id: 'Session', description: 'A session of the caller' })
export type SessionView = z.infer<typeof SessionView>
