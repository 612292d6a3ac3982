import type { KnownUser } from './queries.ts'

/**
 * Whose an identity is, or comes to be: `known` has a user, `joins` comes to the device's user, `new` gets a user of its
 * own together with the device.
 */
export type Joining =
  | { readonly is: 'known'; readonly userId: string }
  | { readonly is: 'joins'; readonly userId: string }
  | { readonly is: 'new' }

export const joiningOf = (user: KnownUser | undefined, deviceUser: KnownUser | undefined): Joining => {
  if (user) return { is: 'known', userId: user.userId }
  return deviceUser ? { is: 'joins', userId: deviceUser.userId } : { is: 'new' }
}

const userIdOf = (joining: Joining) => ('userId' in joining ? joining.userId : undefined)

/**
 * Whether what would happen now is what was agreed to. An identity that has got a user meanwhile may sign in as that
 * user: its owner has seen to that. Nothing is linked to a user who was not named.
 */
export const isAgreed = (agreed: Joining, present: Joining): boolean =>
  (present.is === 'known' && agreed.is !== 'known') ||
  (present.is === agreed.is && userIdOf(present) === userIdOf(agreed))
