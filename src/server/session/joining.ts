import type { UserAndNamespace } from './queries.ts'

/**
 * The user that an identity belongs to after a sign-in. `known`: the user that it has already. `joins`: the user of the device.
 * `new`: a new user, to whom the device belongs, too.
 */
export type Joining =
  | { readonly is: 'known'; readonly userId: string }
  | { readonly is: 'joins'; readonly userId: string }
  | { readonly is: 'new' }

export const resolveJoining = (
  user: UserAndNamespace | undefined,
  deviceUser: UserAndNamespace | undefined,
): Joining => {
  if (user) return { is: 'known', userId: user.userId }
  return deviceUser ? { is: 'joins', userId: deviceUser.userId } : { is: 'new' }
}

const userIdOf = (joining: Joining) => ('userId' in joining ? joining.userId : undefined)

/**
 * Whether the sign-in would still do what its user has confirmed. Also true if the identity has got a user since: then it
 * signs in as that user, and nothing is linked. An identity is never linked to another user than the confirmed one.
 */
export const isStillAgreed = (agreed: Joining, present: Joining): boolean =>
  (present.is === 'known' && agreed.is !== 'known') ||
  (present.is === agreed.is && userIdOf(present) === userIdOf(agreed))
