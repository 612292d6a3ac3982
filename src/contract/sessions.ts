import { z } from 'zod'
import { EXAMPLE_DEVICE_ID, EXAMPLE_ID, EXAMPLE_SLUG, done, flag, id, text, time } from './fields.ts'
import { NamespaceInfo, Role } from './namespaces.ts'
import { Key, ShortText } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { UserView } from './user.ts'

/** A shorter `deviceId` can be guessed, and is easily one that another device has. */
export const LEAST_DEVICE_ID = 16

/** The secret that a device is known by. */
export const DeviceId = Key.meta({
  description:
    'A secret that the client makes once for its machine and keeps: whoever sends it is signed in as this device. Take ' +
    `32 random characters, as of a UUID. At least ${LEAST_DEVICE_ID} characters where others than its own machine can reach the service; ` +
    `\`${EXAMPLE_DEVICE_ID}\` is refused`,
  examples: [EXAMPLE_DEVICE_ID],
})

/** The example of a one-time code. */
export const EXAMPLE_CODE = '4F7K-9QWE-2M8T-X6RB-0ZHA'

/** The invite code in a body; ignored for an identity that has a user. */
export const InviteCode = Key.meta({
  description:
    'The code of an invite that a new user accepts with the sign-up: needed where only the invited may sign up',
})

/** The code in a body by which a new device becomes one of a user who exists. */
const JoinCode = z
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

const named = { description: 'What the user calls the device', examples: ['my laptop'] }

/** The name of a device in a body. */
export const DeviceName = ShortText.meta(named)

/** The namespace that a session is active in; absent when the user is in none. */
const activeNamespace = {
  namespaceId: id('the namespace that the session is active in; absent when the user has none').optional(),
  namespaceSlug: text('The slug of this namespace', EXAMPLE_SLUG).optional(),
  role: Role.meta({ description: 'The role of the user in this namespace' }).optional(),
}

const identityFields = {
  id: id('the session'),
  userId: id('the user'),
  identityId: id('the identity that the user has signed in with'),
}

const deviceName = z.string().meta(named).optional()
const expiresAt = time('When the session ends').optional()

/** A session that was just started, the only view with its token. */
export const NewSession = z
  .object({
    ...identityFields,
    token: text('The secret for `Authorization: Bearer …`; it is shown here and never again'),
    ...activeNamespace,
    deviceName,
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
        deviceName,
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
    namespaceId: id('the namespace that was chosen for the session, if one was').optional(),
    deviceName,
    createdAt: time('When the session began'),
    lastUsedAt: time('When the session was last used').optional(),
    expiresAt,
    current: flag('Whether this request came with it'),
  })
  .meta({ id: 'Session', description: 'A session of the caller' })
export type SessionView = z.infer<typeof SessionView>

const SessionCreate = z
  .object({
    deviceId: DeviceId,
    deviceName: DeviceName.optional(),
    namespaceId: WantedNamespace.optional(),
    inviteCode: InviteCode.optional(),
    joinCode: JoinCode.optional(),
  })
  .meta({
    id: 'SessionCreate',
    description: 'Which device signs in',
    examples: [{ deviceId: EXAMPLE_DEVICE_ID, deviceName: 'my laptop' }],
  })

const SessionSwitch = z
  .object({
    namespaceId: z.string().meta({ description: 'The id of the namespace' }).optional(),
    slug: Key.meta({ description: 'The slug of the namespace', examples: [EXAMPLE_SLUG] }).optional(),
  })
  .refine(({ namespaceId, slug }) => namespaceId !== undefined || slug !== undefined, {
    error: 'namespaceId or slug is required',
  })
  .meta({ id: 'SessionSwitch', description: 'A namespace, by id or by slug', examples: [{ slug: EXAMPLE_SLUG }] })

const DeviceCode = z
  .object({
    code: text(
      'What the new device sends as `joinCode` of `POST /v1/session`; shown here and never again',
      EXAMPLE_CODE,
    ),
    expiresAt: time('When the code ends: after 10 minutes'),
  })
  .meta({ id: 'DeviceCode', description: 'A one-time code for another device of the same user' })

const Revoked = z.object({ revoked: done('That the session has ended') })

/** Sessions: to start, read, list, switch and end them, and to let another device in. */
export const sessions = {
  'GET /v1/session': {
    tag: 'sessions',
    summary: 'Who you are, and where',
    description:
      'The session that the request came with, its user and its active namespace. A page that signs in by cookie ' +
      'finds its `csrfToken` here. With `holds` it also says whether the service has a certain write: it has not where a ' +
      'backup was restored that is older. Errors: `invalid_request` (400) for two of them.',
    auth: 'required',
    query: {
      holds: z
        .string()
        .meta({
          description: 'An `x-log-position` of an answer to a write: whether the service has that write',
          examples: ['4.5f1c2e0a-6d1c-7a43-9b0f-3f1f6f0c1d2e'],
        })
        .optional(),
    },
    answer: data(CurrentSession),
  },
  'DELETE /v1/session': {
    tag: 'sessions',
    summary: 'End this session',
    description:
      'Signs out: the token stops working at once here, and within a second on other nodes of the service. A cookie ' +
      'is cleared.',
    auth: 'required',
    answer: data(Revoked),
  },
  'POST /v1/session/device': {
    tag: 'sessions',
    summary: 'Make a code by which another device becomes one of yours',
    description:
      'Give the code to a device of your own that has no user yet: it sends it as `joinCode` of `POST /v1/session`, ' +
      'and is then an identity of your user, with the same rights as this one. The code works once, for ten ' +
      'minutes, and only while this session is valid. `GET /v1/user/identities` lists your devices, ' +
      '`DELETE /v1/user/identities/{id}` removes one. Errors: `rate_limited` (429) beyond 60 calls a minute from ' +
      'one address (default).',
    auth: 'required',
    answer: data(DeviceCode),
  },
  'POST /v1/session': {
    tag: 'sessions',
    summary: 'Start a session as a device; its first one makes a user, or joins one',
    description:
      'Signs a device in, without a password: its `deviceId` is the secret. The first call with a `deviceId` makes a ' +
      'user, an identity, and a namespace of its own; each later one starts another session of the same user. ' +
      'With `joinCode`, of `POST /v1/session/device`, a new device becomes one of the user who made the code, ' +
      'instead; the same device may repeat that after a lost answer. ' +
      'Sessions live 90 days if the operator has not said otherwise. Errors: `invalid_request` (400) for a missing, ' +
      'short or example `deviceId`; `forbidden` (403) for a namespace that the user is no member of, and for a new ' +
      'user whose `inviteCode` no invite has, or who has none where only the invited may sign up; `not_found` (404) ' +
      'for an unknown namespace or `joinCode`; `device_known` (409) for a device that has a user already and so ' +
      'cannot join; `code_used`, `code_expired` (410) for a `joinCode` that another device has used, that is older ' +
      'than ten minutes, or whose maker’s session has ended; ' +
      '`invite_revoked`, `invite_expired`, `invite_used` (410); `rate_limited` (429) ' +
      'beyond 120 calls a minute from one address (default).',
    auth: 'none',
    body: json(SessionCreate),
    answer: data(z.object({ session: NewSession })),
    errors: [
      'forbidden',
      'not_found',
      'device_known',
      'code_used',
      'code_expired',
      'invite_revoked',
      'invite_expired',
      'invite_used',
    ],
  },
  'POST /v1/session/switch': {
    tag: 'sessions',
    summary: 'Make another namespace the active one of this session',
    description:
      'What the session writes goes to its active namespace, and its lists show that one. Name the namespace by ' +
      '`namespaceId` or by `slug`; with both the id counts. Switching again to the same namespace changes nothing. ' +
      'Errors: `invalid_request` (400) when both are missing; `forbidden` (403) when you are no member; `not_found` ' +
      '(404).',
    auth: 'required',
    body: json(SessionSwitch),
    answer: data(
      z.object({
        user: UserView,
        namespace: NamespaceInfo,
        session: z.object({ id: id('the session') }).meta({ description: 'The session that was switched' }),
      }),
    ),
    errors: ['not_found'],
  },
  'GET /v1/sessions': {
    tag: 'sessions',
    summary: 'List your sessions, newest first',
    description:
      'All sessions of your user that have neither ended nor expired, on all devices. Tokens are never shown.',
    auth: 'required',
    answer: data(z.object({ sessions: z.array(SessionView).meta({ description: 'Your sessions' }) })),
  },
  'DELETE /v1/sessions/{id}': {
    id: 'deleteSessionById',
    tag: 'sessions',
    summary: 'End one of your sessions',
    description:
      'Its token stops working at once here, and within a second on other nodes of the service. Errors: `not_found` ' +
      '(404) for a session that is not yours or has ended.',
    auth: 'required',
    path: { id: Key.meta({ description: 'The id of the session', examples: [EXAMPLE_ID] }) },
    answer: data(Revoked),
    errors: ['not_found'],
  },
} as const satisfies Api
