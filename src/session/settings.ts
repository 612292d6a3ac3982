import { z } from 'zod'

/** Who may sign up, and for how long a session is valid. */
export const sessionSettings = {
  /** Who may become a user: anybody, only people with an invite, or nobody. Users sign in as ever. */
  SIGN_UP: z.enum(['open', 'invited', 'off']).default('open'),
  SESSION_TTL_DAYS: z.coerce.number().positive().max(36_500).default(90),
}

export type SessionSettings = {
  readonly [Name in keyof typeof sessionSettings]: z.output<(typeof sessionSettings)[Name]>
}
