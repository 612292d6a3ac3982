import type { Profile } from '../user/decide.ts'
import type { IdentityType } from '../user/events.ts'

/** Who signs up; `key` is the SHA-256 of what identifies them. */
export type NewIdentity = {
  readonly id: string
  readonly type: IdentityType
  readonly key: string
  readonly profile: Profile
}
