import type { IdentityType } from '../../contract/user.ts'
import { textBytes } from '../../eventstore/engine/sized-cache.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Decision, StreamKind } from '../../eventstore/engine/stream.ts'
import { IdentityEvent, type ProviderData, UserEvent } from './events.ts'

const STATE_BYTES = 600

type PresentUser = {
  readonly is: 'present'
  readonly displayName: string | undefined
  /** The slug that the sign-up asked for. The user's individual namespace has it, unless it was taken. */
  readonly askedSlug: string | undefined
  /** The ids of the identities that the user has removed. */
  readonly removed: Set<string>
}

export type User = { readonly is: 'absent' } | PresentUser

const evolveUser = (user: User, event: UserEvent): User => {
  switch (event.type) {
    case 'UserCreated': {
      const { displayName, slug: askedSlug } = event.data
      return { is: 'present', displayName, askedSlug, removed: new Set() }
    }
    case 'UserRenamed':
      if (user.is === 'absent') throw new Error('the user does not exist')
      return { ...user, displayName: event.data.displayName }
    case 'IdentityRemoved':
      if (user.is === 'absent') throw new Error('the user does not exist')
      user.removed.add(event.data.identityId)
      return user
  }
}

/** Streams `user-<id>`. */
export const users: StreamKind<User, UserEvent> = {
  category: 'user',
  events: UserEvent,
  initial: () => ({ is: 'absent' }),
  evolve: evolveUser,
  draft: (user) => (user.is === 'absent' ? user : { ...user, removed: new Set(user.removed) }),
  sizeOf: (user) =>
    STATE_BYTES +
    (user.is === 'present'
      ? textBytes([user.displayName, user.askedSlug, ...user.removed]) + 40 * user.removed.size
      : 0),
}

/** Creates the user of a new identity. Does nothing if the user exists. */
export const createUser =
  (displayName?: string, slug?: string): Decision<User, UserEvent> =>
  (user) => {
    if (user.is === 'present') return []
    const named = displayName === undefined ? {} : { displayName }
    return [{ type: 'UserCreated', data: { ...named, ...(slug === undefined ? {} : { slug }) } }]
  }

/** Sets the display name. @throws Rejected not_found for a user that does not exist */
export const rename =
  (displayName: string): Decision<User, UserEvent> =>
  (user) => {
    if (user.is === 'absent') throw new Rejected('not_found', 'Not found')
    return user.displayName === displayName ? [] : [{ type: 'UserRenamed', data: { displayName } }]
  }

export const NO_IDENTITY = 'No identity of yours has this id, or it was removed: check the id'

/**
 * Removes an identity of the user. `others` are the ids of the user's other identities, removed ones included.
 * @throws Rejected not_found if it was removed before, last_identity if all others are removed
 */
export const removeIdentity =
  (identityId: string, others: readonly string[]): Decision<User, UserEvent> =>
  (user) => {
    if (user.is === 'absent' || user.removed.has(identityId)) throw new Rejected('not_found', NO_IDENTITY)
    if (others.every((id) => user.removed.has(id)))
      throw new Rejected(
        'last_identity',
        'This is the only identity that you can sign in with: add another device or account first',
      )
    return [{ type: 'IdentityRemoved', data: { identityId } }]
  }

/** Removes an identity that should not have been created, even if it is the only one. Does nothing if it was removed already. */
export const withdrawIdentity =
  (identityId: string): Decision<User, UserEvent> =>
  (user) =>
    user.is === 'absent' || user.removed.has(identityId) ? [] : [{ type: 'IdentityRemoved', data: { identityId } }]

/** @throws Rejected code_expired when the identity, which has made a one-time code, was removed */
export const assertHasIdentity =
  (identityId: string) =>
  (user: User): void => {
    if (user.is !== 'present' || user.removed.has(identityId))
      throw new Rejected(
        'code_expired',
        'The device that made this code was removed: make another code on another device',
      )
  }

/** An account at the code host, as the host describes it; empty for a device. */
type Profile = {
  readonly providerData?: ProviderData
  readonly email?: string
  readonly emailVerified?: boolean
}

/** A device or an account that a user signs in with. `key` is the SHA-256 of the device's id, or of the account at the code host. */
export type Credential = {
  readonly type: IdentityType
  readonly key: string
  readonly profile: Profile
  /** The name of the person, if the code host says it: that of a new user who asks for none. */
  readonly displayName?: string
}

/** A credential with the id of the identity that is created for it. */
export type NewIdentity = Credential & { readonly id: string }

type PresentIdentity = {
  readonly is: 'present'
  readonly userId: string
  readonly type: IdentityType
  readonly profile: Profile
  /** The name that its user has given to it. */
  readonly name?: string
}

export type Identity = { readonly is: 'absent' } | PresentIdentity

/** The fields that are not undefined. */
const profileOf = ({
  providerData,
  email,
  emailVerified,
}: { [Name in keyof Profile]?: Profile[Name] | undefined }): Profile => ({
  ...(providerData === undefined ? {} : { providerData }),
  ...(email === undefined ? {} : { email }),
  ...(emailVerified === undefined ? {} : { emailVerified }),
})

const evolveIdentity = (identity: Identity, event: IdentityEvent): Identity => {
  switch (event.type) {
    case 'IdentityCreated': {
      const { userId, type } = event.data
      return { is: 'present', userId, type, profile: profileOf(event.data) }
    }
    case 'IdentityRefreshed':
      if (identity.is === 'absent') throw new Error('the identity does not exist')
      return { ...identity, profile: { ...identity.profile, ...profileOf(event.data) } }
    case 'IdentityNamed':
      if (identity.is === 'absent') throw new Error('the identity does not exist')
      return { ...identity, name: event.data.name }
  }
}

/** Streams `identity-<id>`; the id is derived from the type and the key of the identity. */
export const identities: StreamKind<Identity, IdentityEvent> = {
  category: 'identity',
  events: IdentityEvent,
  initial: () => ({ is: 'absent' }),
  evolve: evolveIdentity,
  sizeOf: (identity) => {
    if (identity.is === 'absent') return STATE_BYTES
    const { email, providerData } = identity.profile
    return (
      STATE_BYTES + textBytes([identity.userId, identity.name, email, providerData?.login, providerData?.avatarUrl])
    )
  },
}

type IdentityTerms = { readonly userId: string; readonly type: IdentityType; readonly key: string } & Profile

/** Creates an identity of a user. An identity that exists stays with its user, which may be another user. */
export const createIdentity =
  (terms: IdentityTerms): Decision<Identity, IdentityEvent> =>
  (identity) => {
    if (identity.is === 'present') return []
    const { userId, type, key } = terms
    return [{ type: 'IdentityCreated', data: { userId, type, key, ...profileOf(terms) } }]
  }

const sameData = (a: ProviderData | undefined, b: ProviderData | undefined) =>
  a?.login === b?.login && a?.avatarUrl === b?.avatarUrl

/** Updates the profile to what the code host returns now. @throws Rejected not_found for an identity that does not exist */
export const refresh =
  (profile: Profile): Decision<Identity, IdentityEvent> =>
  (identity) => {
    if (identity.is === 'absent') throw new Rejected('not_found', 'Not found')
    const before = identity.profile
    const after = { ...before, ...profile }
    const isSame = sameData(before.providerData, after.providerData) && before.email === after.email
    return isSame && before.emailVerified === after.emailVerified ? [] : [{ type: 'IdentityRefreshed', data: profile }]
  }

/** Gives an identity of the user a name. @throws Rejected not_found for one that does not exist, or is another user's */
export const nameIdentity =
  (userId: string, name: string): Decision<Identity, IdentityEvent> =>
  (identity) => {
    if (identity.is === 'absent' || identity.userId !== userId) throw new Rejected('not_found', NO_IDENTITY)
    return identity.name === name ? [] : [{ type: 'IdentityNamed', data: { name } }]
  }
