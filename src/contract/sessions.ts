import { z } from 'zod'
import { EXAMPLE_DEVICE_ID, EXAMPLE_ID, EXAMPLE_SLUG, done, flag, id, text, time } from './fields.ts'
import { reasonsOf } from './errors.ts'
import { NamespaceInfo, Role, notMember } from './namespaces.ts'
import { Key, ShortText } from './parameters.ts'
import { type Api, data, json } from './route.ts'
import { UserView } from './user.ts'

/** A shorter `deviceId` could be guessed, or be the same as that of another device. */
export const LEAST_DEVICE_ID = 16

/** The secret that a device is known by. */
export const DeviceId = Key.meta({
  description:
    'A secret that the client makes once for its machine and keeps: whoever sends it is signed in as this device. Use ' +
    `32 random characters, such as those of a UUID; at least ${LEAST_DEVICE_ID} if other machines can reach the service. ` +
    `The service refuses \`${EXAMPLE_DEVICE_ID}\``,
  examples: [EXAMPLE_DEVICE_ID],
})

/** The example of a one-time code. */
export const EXAMPLE_CODE = '4F7K-9QWE-2M8T-X6RB-0ZHA'

/** The invite code in a body; ignored if the identity has a user. */
export const InviteCode = Key.meta({
  description:
    'The code of an invite that a new user accepts when signing up; required if the service lets in only users with an invite',
})

/** The code in a body by which a new device joins an existing user. */
const JoinCode = z
  .string()
  .max(256)
  .meta({
    description:
      'The code that another device got from `POST /v1/session/device`: this device joins the same user. Case, spaces ' +
      'and hyphens are ignored',
    examples: [EXAMPLE_CODE],
  })

/** The namespace in a body that starts a session. */
export const WantedNamespace = z
  .string()
  .max(256)
  .meta({
    description:
      'The id of the namespace that becomes the active one of the session; the user has to be a member of it. Default: the oldest ' +
      'individual namespace of the user, else the namespace that the user joined first',
  })

const named = { description: 'The name of the device', examples: ['my laptop'] }

/** The name of a device in a body. */
export const DeviceName = ShortText.meta(named)

/** The name of a new user in a body. */
export const NewDisplayName = ShortText.min(1).meta({
  description: 'The name of a new user, as others see it; ignored for a user who exists',
  examples: ['Ada'],
})

/** The slug of a new user's individual namespace in a body. */
export const NewSlug = Key.meta({
  description:
    'The slug of the individual namespace of a new user; ignored for a user who exists. One that is taken, reserved or not valid is no ' +
    'error: the namespace has a generated slug then, and the answer has `slugRefused`. Default: a generated one',
  examples: [EXAMPLE_SLUG],
})

/** Why the namespace of a new user has not the slug that was asked for. */
const SlugRefused = z
  .object({
    slug: text('The `slug` of the request', EXAMPLE_SLUG),
    reason: z.enum(['taken', 'reserved', 'invalid']).meta({
      description:
        '`taken`: another namespace has it; `reserved`: no namespace can have it; `invalid`: it is not 1 to 64 letters and digits, with ' +
        'single hyphens between them',
    }),
  })
  .meta({ id: 'SlugRefused', description: 'Why the namespace of a new user has a generated slug' })
export type SlugRefused = z.infer<typeof SlugRefused>

/** The active namespace of a session; absent if the user is not a member of any. */
const activeNamespace = {
  namespaceId: id('the active namespace of the session; absent if the user is not a member of any').optional(),
  namespaceSlug: text('The slug of the active namespace', EXAMPLE_SLUG).optional(),
  role: Role.meta({ description: 'The role of the user in the active namespace' }).optional(),
}

const identityFields = {
  id: id('the session'),
  userId: id('the user'),
  identityId: id('the identity that the user has signed in with'),
}

const deviceName = z.string().meta(named).optional()
const expiresAt = time('When the session expires').optional()

/** A session that was just started. Only this answer has the token. */
export const NewSession = z
  .object({
    ...identityFields,
    token: text('The secret for the header `Authorization: Bearer …`; only this answer shows it'),
    ...activeNamespace,
    deviceName,
    expiresAt,
    slugRefused: SlugRefused.optional(),
  })
  .meta({ id: 'NewSession', description: 'A session that was just started' })
export type NewSession = z.infer<typeof NewSession>

/** The session of a request. */
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
      .meta({ description: 'The session of the request' }),
    user: UserView,
    namespace: NamespaceInfo.meta({ description: 'The active namespace of the session' }).optional(),
    role: Role.meta({ description: 'The role of the user in this namespace' }).optional(),
    csrfToken: text('The value for the header `x-csrf-token`; only if the request came with the cookie').optional(),
    logId: z
      .string()
      .meta({
        description:
          'The id of the log of the service. It changes when the service gets another log, or when its log has lost its last events',
      })
      .optional(),
    holds: flag(
      'Whether the service still has the write that the parameter `holds` names; only with that parameter',
    ).optional(),
  })
  .meta({ id: 'CurrentSession', description: 'The session of a request, with its user and namespace' })
export type CurrentSession = z.infer<typeof CurrentSession>

/** Which service it is, for a client that has no session yet. */
const ServiceInfo = z
  .object({
    log: id('the log of the service. It is the same at each address, and after a backup was restored'),
    publicUrl: text(
      'The address at which people reach the service, if the operator has set one as `PUBLIC_URL`',
      'https://traces.example.org',
    ).optional(),
  })
  .meta({ id: 'ServiceInfo', description: 'Which service it is' })
export type ServiceInfo = z.infer<typeof ServiceInfo>

/** One of the caller's sessions. */
export const SessionView = z
  .object({
    ...identityFields,
    namespaceId: id('the namespace that was chosen for the session, if one was').optional(),
    deviceName,
    createdAt: time('When the session was started'),
    lastUsedAt: time('When the session was last used').optional(),
    expiresAt,
    current: flag('Whether it is the session of this request'),
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
    displayName: NewDisplayName.optional(),
    slug: NewSlug.optional(),
  })
  .meta({
    id: 'SessionCreate',
    description: 'The device that signs in',
    examples: [{ deviceId: EXAMPLE_DEVICE_ID, deviceName: 'my laptop' }],
  })

const SessionSwitch = z
  .object({
    namespaceId: z.string().meta({ description: 'The id of the namespace' }).optional(),
    slug: Key.meta({ description: 'The slug of the namespace', examples: [EXAMPLE_SLUG] }).optional(),
  })
  .refine(({ namespaceId, slug }) => namespaceId !== undefined || slug !== undefined, {
    error: 'must have namespaceId or slug',
  })
  .meta({ id: 'SessionSwitch', description: 'A namespace, by its id or its slug', examples: [{ slug: EXAMPLE_SLUG }] })

const DeviceCode = z
  .object({
    code: text(
      'What the new device sends as `joinCode` of `POST /v1/session`; only this answer shows it',
      EXAMPLE_CODE,
    ),
    expiresAt: time('When the code expires: 10 minutes after it was made'),
  })
  .meta({ id: 'DeviceCode', description: 'A one-time code for another device of the same user' })

const Revoked = z.object({ revoked: done('The session has ended') })

/** The reason of `rate_limited` for routes that count sign-ins. */
export const tooManySignIns =
  'Your address has sent more than 60 requests of this kind in a minute (default). Wait as many seconds as `Retry-After` says.'

/** Sessions: start, read, list, switch and end them, and let another device join. */
export const sessions = {
  'GET /v1/service': {
    tag: 'sessions',
    summary: 'Read which service this is, before a session is started',
    description:
      'A client that is a device of a user at another address of the same service finds out here that it must not become a second user: ' +
      'the `log` is the same. This is only what the service says. Never send a token, a `deviceId` or a `joinCode` of one address to ' +
      'another because the `log` is the same; the `publicUrl` that the known address answers is a proof that it is the same service.',
    auth: 'none',
    answer: data(ServiceInfo),
    errors: { unavailable: 'The service has not read its log yet. Try again after `Retry-After` seconds.' },
  },
  'GET /v1/session': {
    tag: 'sessions',
    summary: 'Read the session of the request, with its user and namespace',
    description:
      'A page that is signed in by cookie finds its `csrfToken` here. With `holds`, the answer says whether the service still has a ' +
      'certain write. It does not if a backup has been restored that is older than the write.',
    auth: 'required',
    query: {
      holds: z
        .string()
        .meta({
          description: 'The `x-log-position` of an answer to a write: asks whether the service still has that write',
          examples: ['4.5f1c2e0a-6d1c-7a43-9b0f-3f1f6f0c1d2e'],
        })
        .optional(),
    },
    answer: data(CurrentSession),
    errors: { invalid_request: 'A header or a parameter is not valid, or `holds` is given twice. Give it once.' },
  },
  'DELETE /v1/session': {
    tag: 'sessions',
    summary: 'End the session of the request',
    description:
      'The token stops working at once on this node, and within a second on other nodes. If the request came with the cookie, the ' +
      'answer removes the cookie.',
    auth: 'required',
    answer: data(Revoked),
  },
  'POST /v1/session/device': {
    tag: 'sessions',
    summary: 'Make a code by which another device of yours joins your user',
    description:
      'Enter the code on a device of yours that has no user yet. The device sends it as `joinCode` of `POST /v1/session`, becomes ' +
      'an identity of your user, and has the same rights as this device. The code works once, for 10 minutes, and only while this ' +
      'session is valid. `GET /v1/user/identities` lists your devices, and `DELETE /v1/user/identities/{id}` removes one.',
    auth: 'required',
    answer: data(DeviceCode),
    errors: { rate_limited: tooManySignIns },
  },
  'POST /v1/session': {
    tag: 'sessions',
    summary: 'Start a session as a device',
    description:
      'The device signs in with its `deviceId`, which is its only secret. The first call with a `deviceId` creates a user, an ' +
      'identity and a namespace, with the `displayName` and the `slug` that it asks for; each later call starts another session of the same ' +
      'user, and ignores both. With a `joinCode` of ' +
      '`POST /v1/session/device`, a new device joins the user who made the code instead; it may repeat the call if the answer was ' +
      'lost. A session is valid for 90 days (default).',
    auth: 'none',
    body: json(SessionCreate),
    answer: data(z.object({ session: NewSession })),
    errors: {
      invalid_request:
        'A field of the body is not valid, or `deviceId` is missing, too short or the example of this reference. Make 32 random characters ' +
        'for your device, and keep them.',
      forbidden:
        'The user is not a member of the namespace `namespaceId`. Or the user would be new, and no invite has the `inviteCode`, the ' +
        'service lets in only users with an invite, or it lets in nobody. Ask for an invite. Or, on a service on loopback, the request comes ' +
        'from a page of another origin: the message names the setting that allows it.',
      not_found: 'No namespace has the id `namespaceId`, or no device has made the `joinCode`. Check both.',
      ...reasonsOf('device_known'),
      code_used: 'Another device has used the `joinCode`. Make another code.',
      code_expired:
        'The `joinCode` is older than 10 minutes, or the session that made it has ended. Make another code.',
      ...reasonsOf('invite_revoked', 'invite_expired', 'invite_used'),
      rate_limited:
        'Your address has started more than 120 sessions in a minute (default). Wait as many seconds as `Retry-After` says.',
    },
  },
  'POST /v1/session/switch': {
    tag: 'sessions',
    summary: 'Make another namespace the active one of this session',
    description:
      'The session writes to its active namespace, and its lists show that namespace. Give `namespaceId` or `slug`; if you give both, ' +
      '`namespaceId` counts. Switching to the active namespace changes nothing.',
    auth: 'required',
    body: json(SessionSwitch),
    answer: data(
      z.object({
        user: UserView,
        namespace: NamespaceInfo,
        session: z.object({ id: id('the session') }).meta({ description: 'The session that was switched' }),
      }),
    ),
    errors: {
      invalid_request: 'The body has neither `namespaceId` nor `slug`. Give one of them.',
      forbidden: notMember,
      not_found: 'No namespace has this id or slug. Check it.',
    },
  },
  'GET /v1/sessions': {
    tag: 'sessions',
    summary: 'List your sessions, newest first',
    description:
      'All sessions of your user, on all devices, that have neither ended nor expired. Tokens are never shown.',
    auth: 'required',
    answer: data(z.object({ sessions: z.array(SessionView).meta({ description: 'Your sessions' }) })),
  },
  'DELETE /v1/sessions/{id}': {
    id: 'deleteSessionById',
    tag: 'sessions',
    summary: 'End one of your sessions',
    description: 'The token of the session stops working at once on this node, and within a second on other nodes.',
    auth: 'required',
    path: { id: Key.meta({ description: 'The id of the session', examples: [EXAMPLE_ID] }) },
    answer: data(Revoked),
    errors: { not_found: 'No session of yours has this id, or it has ended. `GET /v1/sessions` lists your sessions.' },
  },
} as const satisfies Api
