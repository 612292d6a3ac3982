import { z } from 'zod'
import { Key, ShortText } from '../http/keys.ts'
import { InviteCode, NewSession } from '../session/views.ts'

/** The body that starts a sign-in (interface: Sign-in flow payloads; readings: redirectTo). */
export const AuthStart = z
  .object({
    provider: z.literal('codehost').optional(),
    deviceId: Key,
    deviceName: ShortText.optional(),
    namespaceId: z.string().optional(),
    inviteCode: InviteCode.optional(),
    redirectTo: z.string().optional(),
  })
  .meta({ id: 'AuthStart' })
export type AuthStart = z.infer<typeof AuthStart>

/** Times are milliseconds. */
export const AuthStarted = z
  .object({ state: z.string(), authorizeUrl: z.string(), expiresAt: z.int() })
  .meta({ id: 'AuthStarted' })

export const AuthComplete = z
  .object({ state: z.string().min(1), exchangeCode: z.string().min(1) })
  .meta({ id: 'AuthComplete' })
export type AuthComplete = z.infer<typeof AuthComplete>

/** The form of the page that asks, and whether its answer is yes. */
export const AuthConfirm = z
  .object({ state: z.string().min(1), confirmation: z.string().min(1), answer: z.enum(['yes', 'no']) })
  .meta({ id: 'AuthConfirm' })
export type AuthConfirm = z.infer<typeof AuthConfirm>

export const AuthCompleted = z.object({ session: NewSession })

/** What a provider sends somebody back with: a code, or why there is none. */
export const Callback = z.object({
  state: z.string().optional().meta({ description: 'The state of the sign-in' }),
  code: z.string().optional().meta({ description: 'What the code host gives for a yes' }),
  error: z.string().optional().meta({ description: 'Why there is no code' }),
  iss: z.string().optional().meta({ description: 'Who the code host says it is' }),
})
export type Callback = z.infer<typeof Callback>
