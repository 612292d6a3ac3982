import { z } from 'zod'

const DAYS = 'must be a number of days, more than 0 and at most 36500'

/** Who may sign up, and for how long a session is valid. */
export const sessionSettings = {
  /** Who may sign up: everybody, only people with an invite, or nobody. Users who exist can always sign in. */
  SIGN_UP: z.enum(['open', 'invited', 'off']).default('open'),
  SESSION_TTL_DAYS: z.coerce.number({ error: DAYS }).positive({ error: DAYS }).max(36_500, { error: DAYS }).default(90),
}

export type SessionSettings = {
  readonly [Name in keyof typeof sessionSettings]: z.output<(typeof sessionSettings)[Name]>
}
