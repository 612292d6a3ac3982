import type { InviteState } from '../../contract/invites.ts'
import type { Role } from '../../contract/namespaces.ts'

export const INVITE_LIFETIME_MS = 24 * 60 * 60 * 1_000

/** The state of an invite. Times are milliseconds. With `email`, only a user with this address may accept. */
export type Invite = {
  /** How many invites the namespace had before. */
  readonly number: number
  readonly invitedBy: string
  readonly role: Role
  readonly createdAt: number
  readonly expiresAt: number
  readonly email: string | undefined
  /** How many users may accept. Absent: 1; 0: any number. */
  readonly maxUses: number | undefined
  readonly useCount: number
  readonly revokedAt: number | undefined
}

type InviteUsage = Pick<Invite, 'expiresAt' | 'maxUses' | 'useCount' | 'revokedAt'>

/** The state of an invite at `now`; `accepted` means that no uses are left. */
export const inviteState = ({ revokedAt, expiresAt, maxUses = 1, useCount }: InviteUsage, now: number): InviteState => {
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt <= now) return 'expired'
  return maxUses !== 0 && useCount >= maxUses ? 'accepted' : 'pending'
}

/** Converts only ASCII letters: Unicode would also map the Kelvin sign to `k`, so that two mailboxes would be equal. */
const lowerCase = (address: string) => address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** Whether an invite is for one of these addresses, compared without case. True if the invite has no address. */
export const isAddressedTo = ({ email }: Pick<Invite, 'email'>, addresses: readonly string[]): boolean =>
  email === undefined || addresses.some((address) => lowerCase(address) === lowerCase(email))
