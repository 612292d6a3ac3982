import { z } from 'zod'
import { EXAMPLE_DEVICE_ID, text, time } from './fields.ts'
import { type Api, data, form, json, other } from './route.ts'
import { DeviceId, DeviceName, EXAMPLE_CODE, InviteCode, NewSession, WantedNamespace } from './sessions.ts'
import { UserView } from './user.ts'

/** The body of a request that starts a sign-in. */
const AuthStart = z
  .object({
    provider: z.literal('codehost').meta({ description: 'Where to sign in: there is one provider' }).optional(),
    deviceId: DeviceId,
    deviceName: DeviceName.optional(),
    namespaceId: WantedNamespace.optional(),
    inviteCode: InviteCode.optional(),
    redirectTo: z
      .string()
      .meta({
        description:
          'Where the browser goes in the end: an address on loopback, which gets `state` and `exchangeCode`, or a page ' +
          'of this service. Without it a page shows the code',
        examples: ['http://127.0.0.1:8400/done'],
      })
      .optional(),
  })
  .meta({
    id: 'AuthStart',
    description: 'Which device signs in, and what comes after',
    examples: [{ deviceId: EXAMPLE_DEVICE_ID, deviceName: 'my laptop' }],
  })

/** A started sign-in. `expiresAt` is in milliseconds. */
const AuthStarted = z
  .object({
    state: text('The name of this sign-in, for `POST /v1/auth/complete`'),
    authorizeUrl: text('The page of the code host to open in a browser'),
    expiresAt: time('When the sign-in ends if it was not completed: after 10 minutes'),
  })
  .meta({ id: 'AuthStarted', description: 'A sign-in that was begun' })

const state = z.string().min(1).meta({ description: 'The `state` that the start of the sign-in gave' })

const AuthComplete = z
  .object({
    state,
    exchangeCode: z.string().min(1).meta({ description: 'The code that the page showed, or the browser brought' }),
  })
  .meta({
    id: 'AuthComplete',
    description: 'A sign-in and its code',
    examples: [{ state: 'the state of the start', exchangeCode: 'the code of the page' }],
  })

/** The form of the confirmation page: its secrets, and the user's answer. */
const AuthConfirm = z
  .object({
    state,
    confirmation: z.string().min(1).meta({ description: 'The secret of the page that asks' }),
    answer: z.enum(['yes', 'no']).meta({ description: 'Whether account and device may be joined' }),
  })
  .meta({
    id: 'AuthConfirm',
    description: 'The form of the page that asks',
    examples: [{ state: 'the state of the start', confirmation: 'the secret of the page', answer: 'no' }],
  })

const BrowserStarted = z
  .object({
    url: text('The page to open in the browser; it works once'),
    expiresAt: time('When it ends: after 60 seconds'),
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
        avatarUrl: text('The address of its picture').optional(),
      })
      .meta({ description: 'The account at the code host' }),
    deviceName: text('What the device was called at the start', 'my laptop').optional(),
    joining: z.enum(['known', 'joins', 'new']).meta({
      description:
        '`known`: the account has a user, and the device will act as that one; `joins`: the account will be joined to ' +
        'the user of the device; `new`: a user will be made for both',
    }),
    user: UserView.optional().meta({ description: 'The user that the device will act as; absent when it will be new' }),
    namespaceSlug: z.string().optional().meta({ description: 'The namespace that the user is at home in' }),
  })
  .meta({ id: 'SignInReview', description: 'What completing a sign-in would do' })
export type SignInReview = z.infer<typeof SignInReview>

const HTML = ['text/html'] as const

/** Signing in with a code host, and a browser with a one-time code. */
export const signIns = {
  'POST /v1/session/browser': {
    tag: 'sign-in',
    summary: 'Make a page where a browser signs in as you',
    description:
      'Open `url` in a browser, within 60 seconds: the page says who will be signed in and has a button, which sets ' +
      'the cookie of a new session. It works once, and only while this session is valid. Give the address to nobody ' +
      'else. Errors: `invalid_request` (400) for a `redirectTo` of another site; `forbidden` (403) where browsers ' +
      'reach the service over plain HTTP from other machines; `rate_limited` (429) beyond 60 calls a minute from ' +
      'one address (default).',
    auth: 'required',
    query: {
      redirectTo: z
        .string()
        .meta({
          description:
            'The page of this service where the browser goes then, as a path or a whole address. Default: `/`',
          examples: ['/'],
        })
        .optional(),
    },
    answer: data(BrowserStarted),
  },
  'GET /v1/auth/browser': {
    tag: 'sign-in',
    summary: 'The page where a browser signs in with a one-time code',
    description:
      'For browsers: `url` of `POST /v1/session/browser`. Says who will be signed in, and has a button; to open it ' +
      'signs nobody in. Failures are pages, too: `not_found` (404) for a code that was never made; `code_used`, ' +
      '`code_expired` (410).',
    auth: 'optional',
    query: { code: browserCode },
    answer: other(HTML, { 200: z.string() }),
    errors: ['forbidden', 'not_found', 'code_used', 'code_expired'],
  },
  'POST /v1/auth/browser': {
    tag: 'sign-in',
    summary: 'Sign a browser in, from the page that asks',
    description:
      'For the form of that page: sets the cookie of a new session of the same user, and goes to the page that was ' +
      'asked for, else to `/`. Works once. Failures are pages, too: `forbidden` (403) for a form of another site; ' +
      '`not_found` (404); `code_used`, `code_expired` (410).',
    auth: 'none',
    body: form(BrowserConfirm),
    answer: other(HTML, { 303: z.null() }),
    errors: ['forbidden', 'not_found', 'code_used', 'code_expired'],
  },
  'POST /v1/auth/start': {
    tag: 'sign-in',
    summary: 'Start to sign in with the code host',
    description:
      'Open `authorizeUrl` in a browser. After the person has agreed there and here, a page shows a code, or ' +
      '`redirectTo` gets it; `POST /v1/auth/complete` makes a session of it within 10 minutes. Each call starts ' +
      'another sign-in. Errors: `invalid_request` (400) for a short or missing `deviceId` or another `redirectTo`; ' +
      '`not_found` (404) on a service without a code host; `rate_limited` (429) beyond 60 calls a minute from one ' +
      'address (default).',
    auth: 'none',
    body: json(AuthStart),
    answer: data(AuthStarted),
    errors: ['forbidden', 'not_found'],
  },
  'GET /v1/auth/callback/codehost': {
    tag: 'sign-in',
    summary: 'Where the code host sends people back to: asks whether to join account and device',
    description:
      'For browsers: the page shows the account, the device and the user that will be joined, and asks. A sign-in ' +
      'that began on a page of this service sets the cookie and goes back there instead. Works once, within 10 ' +
      'minutes. Failures are pages, too.',
    auth: 'none',
    query: {
      state: z.string().optional().meta({ description: 'The state of the sign-in' }),
      code: z.string().optional().meta({ description: 'What the code host gives for a yes' }),
      error: z.string().optional().meta({ description: 'Why there is no code' }),
      iss: z.string().optional().meta({ description: 'Who the code host says it is' }),
    },
    answer: other(HTML, { 200: z.string(), 302: z.null() }),
    errors: ['forbidden', 'not_found', 'invite_revoked', 'invite_expired', 'invite_used'],
  },
  'POST /v1/auth/confirm': {
    tag: 'sign-in',
    summary: 'Say yes or no to a sign-in, from the page that asks',
    description:
      'For the form of that page, in the browser that was asked. Yes gives the code for `POST /v1/auth/complete`, ' +
      'on a page or to `redirectTo`; no ends the sign-in. Works once. Failures are pages, too.',
    auth: 'none',
    body: form(AuthConfirm),
    answer: other(HTML, { 200: z.string(), 303: z.null() }),
    errors: ['forbidden', 'not_found'],
  },
  'POST /v1/auth/review': {
    tag: 'sign-in',
    summary: 'See which account and which user a code would join to the device; the code stays good',
    description:
      'For a program that asks its user before it completes a sign-in. Changes nothing and can be repeated. Errors: ' +
      '`invalid_request` (400) for a code that is wrong, used or older than 10 minutes; `not_found` (404) on a ' +
      'service without a code host.',
    auth: 'none',
    body: json(AuthComplete),
    answer: data(SignInReview),
    errors: ['not_found'],
  },
  'POST /v1/auth/complete': {
    tag: 'sign-in',
    summary: 'Complete a sign-in with the code that it gave',
    description:
      'Starts a session of the user that the account belongs to. A new account is joined to the user of the device, ' +
      'or makes a user. Works once. Errors: `invalid_request` (400) for a code that is wrong, used or older than ' +
      '10 minutes; `forbidden` (403) for a namespace that the user is no member of, or a new user where only the ' +
      'invited may sign up; `not_found` (404) for an unknown namespace, or on a service without a code host; ' +
      '`invite_revoked`, `invite_expired`, `invite_used` (410).',
    auth: 'none',
    body: json(AuthComplete),
    answer: data(z.object({ session: NewSession })),
    errors: ['forbidden', 'not_found', 'invite_revoked', 'invite_expired', 'invite_used'],
  },
} as const satisfies Api
