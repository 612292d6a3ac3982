import type { Role } from './events.ts'

export const INVITE_LIFETIME_MS = 24 * 60 * 60 * 1_000

/** An invite as decisions know it. Times are milliseconds; `email` binds it to whoever has that address. */
export type Invite = {
  readonly invitedBy: string
  readonly role: Role
  readonly createdAt: number
  readonly expiresAt: number
  readonly email: string | undefined
  /** Absent or 1: single use; 0: unlimited; N: capped at N. */
  readonly maxUses: number | undefined
  readonly useCount: number
  readonly revokedAt: number | undefined
}

export type InviteState = 'pending' | 'accepted' | 'revoked' | 'expired'

type Uses = Pick<Invite, 'expiresAt' | 'maxUses' | 'useCount' | 'revokedAt'>

/** What an invite is at a moment; `accepted` means that no use is left. */
export const stateOf = ({ revokedAt, expiresAt, maxUses = 1, useCount }: Uses, now: number): InviteState => {
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt <= now) return 'expired'
  return maxUses !== 0 && useCount >= maxUses ? 'accepted' : 'pending'
}

/** Only ASCII letters: by Unicode's rules the Kelvin sign is a `k`, too, and another mailbox the same address. */
const lowerCase = (address: string) => address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Whether one of the addresses is the one that an invite is for; upper and lower case are the same. */
export const isFor = ({ email }: Pick<Invite, 'email'>, addresses: readonly string[]): boolean =>
  email === undefined || addresses.some((address) => lowerCase(address) === lowerCase(email))
