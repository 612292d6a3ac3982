import { z } from 'zod'
import { EXAMPLE_DEVICE_ID, text, time } from '../contract/fields.ts'
import { DeviceId, DeviceName, InviteCode, NewSession, WantedNamespace } from '../contract/sessions.ts'

/** The body of a request that starts a sign-in. */
export const AuthStart = z
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
export type AuthStart = z.infer<typeof AuthStart>

/** A started sign-in. `expiresAt` is in milliseconds. */
export const AuthStarted = z
  .object({
    state: text('The name of this sign-in, for `POST /v1/auth/complete`'),
    authorizeUrl: text('The page of the code host to open in a browser'),
    expiresAt: time('When the sign-in ends if it was not completed: after 10 minutes'),
  })
  .meta({ id: 'AuthStarted', description: 'A sign-in that was begun' })

const state = z.string().min(1).meta({ description: 'The `state` that the start of the sign-in gave' })

export const AuthComplete = z
  .object({
    state,
    exchangeCode: z.string().min(1).meta({ description: 'The code that the page showed, or the browser brought' }),
  })
  .meta({
    id: 'AuthComplete',
    description: 'A sign-in and its code',
    examples: [{ state: 'the state of the start', exchangeCode: 'the code of the page' }],
  })
export type AuthComplete = z.infer<typeof AuthComplete>

/** The form of the confirmation page: its secrets, and the user's answer. */
export const AuthConfirm = z
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
export type AuthConfirm = z.infer<typeof AuthConfirm>

export const AuthCompleted = z.object({ session: NewSession })

/** The query parameters of a request for a code with which a browser signs in. */
export const BrowserStart = z.object({
  redirectTo: z
    .string()
    .meta({
      description: 'The page of this service where the browser goes then, as a path or a whole address. Default: `/`',
      examples: ['/'],
    })
    .optional(),
})
export type BrowserStart = z.infer<typeof BrowserStart>

export const BrowserStarted = z
  .object({
    url: text('The page to open in the browser; it works once'),
    expiresAt: time('When it ends: after 60 seconds'),
  })
  .meta({ id: 'BrowserStarted', description: 'A page where a browser signs in' })

const browserCode = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: 'The one-time code of the page', examples: ['4F7K-9QWE-2M8T-X6RB-0ZHA'] })

export const BrowserPage = z.object({ code: browserCode })
export type BrowserPage = z.infer<typeof BrowserPage>

/** The form of the page where a browser signs in. */
export const BrowserConfirm = z
  .object({ code: browserCode })
  .meta({ id: 'BrowserConfirm', description: 'The form of the page', examples: [{ code: 'the code of the page' }] })
export type BrowserConfirm = z.infer<typeof BrowserConfirm>

/** The query parameters of the code host's redirect: a code, or an error. */
export const Callback = z.object({
  state: z.string().optional().meta({ description: 'The state of the sign-in' }),
  code: z.string().optional().meta({ description: 'What the code host gives for a yes' }),
  error: z.string().optional().meta({ description: 'Why there is no code' }),
  iss: z.string().optional().meta({ description: 'Who the code host says it is' }),
})
export type Callback = z.infer<typeof Callback>
