import { z } from 'zod'
import { reasonsOf } from './errors.ts'
import { EXAMPLE_DEVICE_ID, EXAMPLE_SLUG, text, time } from './fields.ts'
import { type Api, data, form, json, other } from './route.ts'
import {
  DeviceId,
  DeviceName,
  EXAMPLE_CODE,
  InviteCode,
  NewDisplayName,
  NewSession,
  NewSlug,
  WantedNamespace,
  tooManySignIns,
} from './sessions.ts'
import { UserView } from './user.ts'

/** The body of a request that starts a sign-in. */
const AuthStart = z
  .object({
    provider: z.literal('codehost').meta({ description: 'The provider to sign in with. There is one' }).optional(),
    deviceId: DeviceId,
    deviceName: DeviceName.optional(),
    namespaceId: WantedNamespace.optional(),
    inviteCode: InviteCode.optional(),
    redirectTo: z
      .string()
      .meta({
        description:
          'Where the browser goes in the end: an address on loopback, which gets `state` and `exchangeCode`, or a page ' +
          'of this service. Default: a page that shows the code',
        examples: ['http://127.0.0.1:8400/done'],
      })
      .optional(),
  })
  .meta({
    id: 'AuthStart',
    description: 'The device that signs in, and where the browser goes afterwards',
    examples: [{ deviceId: EXAMPLE_DEVICE_ID, deviceName: 'my laptop' }],
  })

const AuthStarted = z
  .object({
    state: text('Identifies this sign-in in `POST /v1/auth/complete`'),
    authorizeUrl: text('The page of the code host to open in a browser'),
    expiresAt: time('When the sign-in expires: 10 minutes after its start'),
  })
  .meta({ id: 'AuthStarted', description: 'A sign-in that was started' })

const state = z.string().min(1).meta({ description: 'The `state` of `POST /v1/auth/start`' })

const codes = {
  state,
  exchangeCode: z.string().min(1).meta({ description: 'The code that the page showed, or that `redirectTo` got' }),
}
const exampleCodes = { state: 'the state of the start', exchangeCode: 'the code of the page' }

const AuthCodes = z
  .object(codes)
  .meta({ id: 'AuthCodes', description: 'A sign-in, and its code', examples: [exampleCodes] })

const AuthComplete = z.object({ ...codes, displayName: NewDisplayName.optional(), slug: NewSlug.optional() }).meta({
  id: 'AuthComplete',
  description: 'A sign-in, its code, and what a new user is called',
  examples: [{ ...exampleCodes, slug: EXAMPLE_SLUG }],
})

/** The form of the confirmation page. */
const AuthConfirm = z
  .object({
    state,
    confirmation: z.string().min(1).meta({ description: 'The secret of the page that asks' }),
    answer: z.enum(['yes', 'no']).meta({ description: 'Whether the user agrees that account and device are joined' }),
  })
  .meta({
    id: 'AuthConfirm',
    description: 'The form of the page that asks for a confirmation',
    examples: [{ state: 'the state of the start', confirmation: 'the secret of the page', answer: 'no' }],
  })

const BrowserStarted = z
  .object({
    url: text('The page to open in a browser; it works once'),
    expiresAt: time('When the page expires: 60 seconds after it was made'),
  })
  .meta({ id: 'BrowserStarted', description: 'A page where a browser signs in' })

const browserCode = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'The one-time code of the page', examples: [EXAMPLE_CODE] })

/** The form of the page where a browser signs in. */
const BrowserConfirm = z
  .object({ code: browserCode })
  .meta({ id: 'BrowserConfirm', description: 'The form of the page', examples: [{ code: 'the code of the page' }] })

/** What the user is asked to confirm: the account, the device, and the user that they will belong to. */
export const SignInReview = z
  .object({
    account: z
      .object({
        login: text('The name of the account', 'ada'),
        name: text('The name of the person, which a new user has by default', 'Ada Lovelace').optional(),
        avatarUrl: text('The address of its picture').optional(),
      })
      .meta({ description: 'The account at the code host' }),
    deviceName: text('The name of the device that was given at the start', 'my laptop').optional(),
    joining: z.enum(['known', 'joins', 'new']).meta({
      description:
        '`known`: the account has a user, and the device will act as that user; `joins`: the account will join ' +
        'the user of the device; `new`: account and device will become a new user',
    }),
    user: UserView.optional().meta({
      description: 'The user that the device will act as; absent if the user will be new',
    }),
    namespaceSlug: z
      .string()
      .optional()
      .meta({ description: 'The slug of the namespace that sessions of the user are active in by default' }),
  })
  .meta({ id: 'SignInReview', description: 'What happens if the sign-in is completed' })
export type SignInReview = z.infer<typeof SignInReview>

const HTML = ['text/html'] as const

const noCodehost = 'The service has no code host. Sign in with `POST /v1/session`.'
const noCode =
  'The code does not exist, or it expired more than an hour ago. Make another one with `POST /v1/session/browser`.'
const otherPage = 'The form comes from a page of another site. Open the page of this service again.'
const wrongCode =
  'A field of the body is not valid, or `state` and `exchangeCode` are wrong, used or older than 10 minutes. Start another sign-in.'
const foreignPage =
  'On a service on loopback, the request comes from a page of another origin. The message names the setting that allows it: `PUBLIC_URL` for the ' +
  'address of the service itself, else `CORS_ORIGINS`.'

/** Signing in with a code host, and a browser with a one-time code. */
export const signIns = {
  'POST /v1/session/browser': {
    tag: 'sign-in',
    summary: 'Make a page where a browser signs in as you',
    description:
      'Open `url` in a browser within 60 seconds. The page says which user will be signed in; its button starts a new session of ' +
      'yours in that browser and sets the cookie. The page works once, and only while this session is valid. Whoever has the URL can ' +
      'sign in as you: do not share it.',
    auth: 'required',
    query: {
      redirectTo: z
        .string()
        .meta({
          description: 'The page of this service that the browser goes to afterwards, as a path or a URL. Default: `/`',
          examples: ['/'],
        })
        .optional(),
    },
    answer: data(BrowserStarted),
    errors: {
      invalid_request: '`redirectTo` is not a page of this service. Give a path that begins with `/`.',
      forbidden:
        'Other machines reach the service over plain HTTP, where browsers do not keep the cookie. Set `PUBLIC_URL` to an https address.',
      rate_limited: tooManySignIns,
    },
  },
  'GET /v1/auth/browser': {
    tag: 'sign-in',
    summary: 'The page where a browser signs in with a one-time code',
    description:
      'For browsers: the `url` of `POST /v1/session/browser`. The page says which user will be signed in, and has a button. Opening ' +
      'the page signs nobody in. Errors are pages, too.',
    auth: 'optional',
    query: { code: browserCode },
    answer: other(HTML, { 200: z.string() }),
    errors: { not_found: noCode, ...reasonsOf('code_used', 'code_expired'), rate_limited: tooManySignIns },
  },
  'POST /v1/auth/browser': {
    tag: 'sign-in',
    summary: 'Sign a browser in; for the form of that page',
    description:
      'Starts a new session of the same user, sets the cookie, and redirects to the page that was asked for, or to `/`. It works ' +
      'once. Errors are pages, too.',
    auth: 'none',
    body: form(BrowserConfirm),
    answer: other(HTML, { 303: z.null() }),
    errors: {
      forbidden: otherPage,
      not_found: noCode,
      ...reasonsOf('code_used', 'code_expired'),
      rate_limited: tooManySignIns,
    },
  },
  'POST /v1/auth/start': {
    tag: 'sign-in',
    summary: 'Start to sign in with the code host',
    description:
      'Open `authorizeUrl` in a browser. The user agrees there and on a page of this service, which then shows a code or passes it to ' +
      '`redirectTo`. Send the code to `POST /v1/auth/complete` within 10 minutes to start a session. Each call starts another sign-in.',
    auth: 'none',
    body: json(AuthStart),
    answer: data(AuthStarted),
    errors: {
      invalid_request:
        'A field of the body is not valid, `deviceId` is missing, too short or the example of this reference, or `redirectTo` is neither ' +
        'an address on loopback nor a page of this service. `details` says which.',
      forbidden: foreignPage,
      not_found: noCodehost,
      rate_limited: tooManySignIns,
    },
  },
  'GET /v1/auth/callback/codehost': {
    tag: 'sign-in',
    summary: 'The page where the code host sends the browser back to',
    description:
      'For browsers. The page shows the account, the device, and the user that both will belong to, and asks for a yes. A sign-in that ' +
      'was started on a page of this service sets the cookie and goes back to that page instead. It works once, within 10 minutes. ' +
      'Errors are pages, too.',
    auth: 'none',
    query: {
      state: z.string().optional().meta({ description: 'The `state` of the sign-in' }),
      code: z.string().optional().meta({ description: 'The code of the code host if the user agreed there' }),
      error: z.string().optional().meta({ description: 'Why the code host gives no code' }),
      iss: z.string().optional().meta({ description: 'The issuer, as the code host names itself' }),
    },
    answer: other(HTML, { 200: z.string(), 302: z.null() }),
    errors: {
      invalid_request:
        'The sign-in is not known, has expired or was used, or the code host gives no code or does not confirm it. Start another sign-in.',
      forbidden:
        'The user did not agree at the code host, the sign-in was started in another browser, or the service does not let the user in ' +
        '(see `POST /v1/auth/complete`). Start another sign-in.',
      not_found: 'No namespace has the id `namespaceId` of the start, or the service has no code host. Check the id.',
      ...reasonsOf('invite_revoked', 'invite_expired', 'invite_used'),
      rate_limited: tooManySignIns,
    },
  },
  'POST /v1/auth/confirm': {
    tag: 'sign-in',
    summary: 'Confirm or deny a sign-in; for the form of that page',
    description:
      'For the browser that was asked. A yes shows the code for `POST /v1/auth/complete` on a page, or passes it to `redirectTo`; a no ' +
      'ends the sign-in. It works once. Errors are pages, too.',
    auth: 'none',
    body: form(AuthConfirm),
    answer: other(HTML, { 200: z.string(), 303: z.null() }),
    errors: {
      invalid_request:
        'The sign-in is not known, has expired, was used, or was started in another browser. Start another sign-in.',
      forbidden: otherPage,
      not_found: noCodehost,
      rate_limited: tooManySignIns,
    },
  },
  'POST /v1/auth/review': {
    tag: 'sign-in',
    summary: 'Read which account and which user a code would join to the device',
    description:
      'For programs that ask their user before they complete a sign-in. The call changes nothing and may be repeated; the code stays valid.',
    auth: 'none',
    body: json(AuthCodes),
    answer: data(SignInReview),
    errors: {
      invalid_request: wrongCode,
      forbidden: foreignPage,
      not_found: noCodehost,
      rate_limited: tooManySignIns,
    },
  },
  'POST /v1/auth/complete': {
    tag: 'sign-in',
    summary: 'Complete a sign-in with its code',
    description:
      'Starts a session of the user that the account belongs to. An account without a user joins the user of the device, or becomes a ' +
      'new user together with the device, with the `displayName` (default: the name at the code host) and the `slug` that are asked for. ' +
      'It works once.',
    auth: 'none',
    body: json(AuthComplete),
    answer: data(z.object({ session: NewSession })),
    errors: {
      invalid_request: wrongCode,
      forbidden:
        'The user is not a member of the namespace of the start. Or the user would be new, and no invite has the `inviteCode`, the service ' +
        'lets in only users with an invite, or it lets in nobody. Ask for an invite, then start another sign-in. ' +
        `Or: ${foreignPage}`,
      not_found: 'No namespace has the id `namespaceId` of the start, or the service has no code host. Check the id.',
      ...reasonsOf('invite_revoked', 'invite_expired', 'invite_used'),
      rate_limited: tooManySignIns,
    },
  },
} as const satisfies Api
