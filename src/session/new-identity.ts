import type { Profile } from '../user/decide.ts'
import type { IdentityType } from '../user/events.ts'

/** What somebody signs in with; `key` is the SHA-256 of what identifies them. */
export type Credential = {
  readonly type: IdentityType
  readonly key: string
  readonly profile: Profile
}

/** Who signs up. */
export type NewIdentity = Credential & { readonly id: string }
