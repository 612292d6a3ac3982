import { hash } from 'node:crypto'
import type { Context } from '../../eventstore/engine/decide.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { namespaceId, userId as userIdOf } from '../../base/ids.ts'
import type { SlugRefused } from '../../contract/sessions.ts'
import { claimNamespace } from '../namespace/decide.ts'
import { acceptInvite } from '../namespace/decide-invites.ts'
import { inviteByCode } from '../namespace/invite-queries.ts'
import { isReserved, normalizeSlug } from '../namespace/slug.ts'
import { type Identity, type NewIdentity, type User, createIdentity, createUser } from '../user/decide.ts'
import type { UserAndNamespace } from './queries.ts'
import type { SignInServices } from './services.ts'

/**
 * Checks that a new user may sign up, and accepts the invite if there is one. Runs before anything of the user is stored,
 * and may be repeated.
 * @throws Rejected forbidden if the user may not sign up; invite_revoked, invite_expired or invite_used for the invite
 */
type AdmitUser = (userId: string, context: Context) => Promise<void>

const forbidden = (message: string) => new Rejected('forbidden', message)

/** A new user may sign up only with an invite, and has given none: a page says so in other words than the API. */
export class NeedsInvite extends Rejected {
  constructor() {
    super('forbidden', 'This service lets in only new users with an invite: give the code of one as inviteCode')
  }
}

const verifiedEmailsOf = ({ profile: { email, emailVerified } }: NewIdentity): string[] =>
  email !== undefined && emailVerified ? [email] : []

/**
 * The check for the mode of `SIGN_UP`. An invite is accepted in every mode. The new user becomes a member before the user is
 * created, so that no more users can sign up with the invite than it allows; a repetition spends only one use.
 */
export const newAdmission = (
  { config, reads, now, namespaces }: Pick<SignInServices, 'config' | 'reads' | 'now' | 'namespaces'>,
  identity: NewIdentity,
  inviteCode: string | undefined,
): AdmitUser => {
  const accept = async (code: string, userId: string, context: Context) => {
    const invite = await inviteByCode(reads, code, now())
    if (!invite) throw forbidden('No invite has this inviteCode: check it, or ask for another invite')
    const decide = acceptInvite({ id: userId, verifiedEmails: verifiedEmailsOf(identity) }, code)
    await namespaces.transact(invite.namespaceId, { decide, answer: () => {} }, context)
  }

  return async (userId, context) => {
    if (config.SIGN_UP === 'off') throw forbidden('This service lets in no new users: ask its operator')
    if (inviteCode !== undefined) return accept(inviteCode, userId, context)
    if (config.SIGN_UP === 'invited') throw new NeedsInvite()
  }
}

/** The names that a new user has chosen: that of the person, and the slug of the individual namespace. Only the call that creates the user heeds it. */
export type NamesOfNewUser = { readonly displayName?: string | undefined; readonly slug?: string | undefined }

/** A user who signs in. */
export type SignedUp = UserAndNamespace & {
  /** Why the new user has not got the slug that was asked for. */
  readonly slugRefused?: SlugRefused
}

/** The transactors of the streams that a sign-up writes. */
type SignUpTransactors = Pick<SignInServices, 'namespaces' | 'users' | 'identities'>

const individualSlug = (identityId: string, attempt: number) =>
  `user-${hash('sha256', identityId, 'hex').slice(0, 8)}${attempt === 0 ? '' : `-${attempt + 1}`}`

/** Creates a user, and returns the names that the first call of the sign-up asked for; a slug only if a namespace can have it. */
const createUserWithNames = async (
  { users }: SignUpTransactors,
  userId: string,
  names: NamesOfNewUser,
  context: Context,
): Promise<NamesOfNewUser> => {
  const answer = (user: User): NamesOfNewUser =>
    user.is === 'present' ? { displayName: user.displayName, slug: user.askedSlug } : names
  return (await users.transact(userId, { decide: createUser(names.displayName, names.slug), answer }, context)).answer
}

type Owner = { readonly userId: string; readonly identityId: string; readonly names: NamesOfNewUser }

/** Creates the individual namespace of a user; undefined if another one has this slug. */
const claimSlug = async (
  { namespaces }: SignUpTransactors,
  slug: string,
  { userId: createdBy, names: { displayName = slug } }: Owner,
  context: Context,
) => {
  const id = namespaceId(slug)
  const decide = claimNamespace({ slug, displayName, type: 'individual', createdBy })
  try {
    await namespaces.transact(id, { decide, answer: () => {} }, context)
    return { id, slug }
  } catch (error) {
    if (error instanceof Rejected && error.code === 'slug_taken') return undefined
    throw error
  }
}

/** Creates the individual namespace of a user with the slug that was asked for, or, if that is taken or none was, with a generated one. */
const claimIndividualNamespace = async (transactors: SignUpTransactors, owner: Owner, context: Context) => {
  const { slug } = owner.names
  const wanted = slug === undefined ? undefined : await claimSlug(transactors, slug, owner, context)
  if (wanted) return wanted
  for (let attempt = 0; ; attempt++) {
    const generated = await claimSlug(transactors, individualSlug(owner.identityId, attempt), owner, context)
    if (generated) return generated
  }
}

type Reason = SlugRefused['reason']

/** The slug that a new user asks for, if a namespace can have it, and otherwise why not. */
const readSlug = (text: string | undefined): { readonly slug?: string; readonly reason?: Reason } => {
  if (text === undefined) return {}
  const slug = normalizeSlug(text)
  if (slug === undefined) return { reason: 'invalid' }
  return isReserved(slug) ? { reason: 'reserved' } : { slug }
}

/** Creates an identity of a user. The result is the id of its user, which is another one if the identity exists already. */
export const createIdentityOf = async (
  { identities }: SignUpTransactors,
  userId: string,
  { id, type, key, profile }: NewIdentity,
  context: Context,
): Promise<string> => {
  const decide = createIdentity({ userId, type, key, ...profile })
  const answer = (state: Identity) => (state.is === 'present' ? state.userId : userId)
  return (await identities.transact(id, { decide, answer }, context)).answer
}

/**
 * Creates a user, a namespace and an identity. The identity comes last, so that the other two exist once it does. The ids of user and identity
 * are derived from the identity's key, that of the namespace from its slug, which the user's stream holds if the first call asked for
 * one. A step that is done already does nothing: so the sign-up may be repeated from any point, and two calls at the same time create one user
 * with one namespace, whatever slugs they ask for. If `admitUser` throws, nothing is stored. The result is the user of the identity;
 * `active` is undefined if the identity has been created for another user in the meantime.
 */
export const signUp = async (
  transactors: SignUpTransactors,
  identity: NewIdentity,
  requestId: string | undefined,
  admitUser: AdmitUser = async () => {},
  { displayName, slug: text }: NamesOfNewUser = {},
): Promise<SignedUp> => {
  const userId = userIdOf(identity.id)
  const context: Context = { actor: { userId }, requestId }
  await admitUser(userId, context)
  const { slug, reason } = readSlug(text)
  const names = await createUserWithNames(transactors, userId, { displayName, slug }, context)
  const namespace = await claimIndividualNamespace(transactors, { userId, identityId: identity.id, names }, context)
  const owner = await createIdentityOf(transactors, userId, identity, context)
  if (owner !== userId) return { userId: owner, active: undefined }
  const signedUp: SignedUp = { userId, active: { ...namespace, role: 'admin' } }
  const refused: Reason | undefined = slug === undefined || slug === namespace.slug ? reason : 'taken'
  // A repetition that asks for another slug than the first call is not heeded.
  return refused && names.slug === slug ? { ...signedUp, slugRefused: { slug: text!, reason: refused } } : signedUp
}

/**
 * Creates an identity for the user of a device, and that user if the device has none. May be repeated from any point. If the
 * identity has been created for another user in the meantime, the result is that user, without a namespace.
 */
export const linkIdentity = async (
  transactors: SignUpTransactors,
  identity: NewIdentity,
  device: { readonly identity: NewIdentity; readonly user: UserAndNamespace | undefined },
  requestId: string | undefined,
  admitUser: AdmitUser,
  names: NamesOfNewUser,
): Promise<SignedUp> => {
  const { userId, active, slugRefused }: SignedUp =
    device.user ?? (await signUp(transactors, device.identity, requestId, admitUser, names))
  const owner = await createIdentityOf(transactors, userId, identity, { actor: { userId }, requestId })
  if (owner !== userId) return { userId: owner, active: undefined }
  return { userId, active, ...(slugRefused ? { slugRefused } : {}) }
}
