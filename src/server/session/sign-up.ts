import { hash } from 'node:crypto'
import type { Context } from '../../eventstore/engine/decide.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { namespaceId, userId as userIdOf } from '../../base/ids.ts'
import { claimNamespace } from '../namespace/decide.ts'
import { acceptInvite } from '../namespace/decide-invites.ts'
import { inviteByCode } from '../namespace/invite-queries.ts'
import { type Identity, type NewIdentity, createIdentity, createUser } from '../user/decide.ts'
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

/** The names that a new user has chosen. */
export type NamesOfNewUser = { readonly displayName?: string }

/** The transactors of the streams that a sign-up writes. */
type SignUpTransactors = Pick<SignInServices, 'namespaces' | 'users' | 'identities'>

const individualSlug = (identityId: string, attempt: number) =>
  `user-${hash('sha256', identityId, 'hex').slice(0, 8)}${attempt === 0 ? '' : `-${attempt + 1}`}`

/** Creates the individual namespace of a user, with a number after the slug if the slug is taken. */
const claimIndividualNamespace = async (
  { namespaces }: SignUpTransactors,
  identityId: string,
  createdBy: string,
  { displayName }: NamesOfNewUser,
  context: Context,
) => {
  for (let attempt = 0; ; attempt++) {
    const slug = individualSlug(identityId, attempt)
    const id = namespaceId(slug)
    const decide = claimNamespace({ slug, displayName: displayName ?? slug, type: 'individual', createdBy })
    try {
      await namespaces.transact(id, { decide, answer: () => {} }, context)
      return { id, slug }
    } catch (error) {
      if (!(error instanceof Rejected && error.code === 'slug_taken')) throw error
    }
  }
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
 * Creates a namespace, a user and an identity. The identity comes last, so that the other two exist once it does. All ids are
 * derived from the identity's key, and a step that is done already does nothing: so the sign-up may be repeated from any point, and
 * two calls at the same time create one user. If `admitUser` throws, nothing is stored. The result is the user of the
 * identity; `active` is undefined if the identity has been created for another user in the meantime.
 */
export const signUp = async (
  transactors: SignUpTransactors,
  identity: NewIdentity,
  requestId: string | undefined,
  admitUser: AdmitUser = async () => {},
  names: NamesOfNewUser = {},
): Promise<UserAndNamespace> => {
  const userId = userIdOf(identity.id)
  const context: Context = { actor: { userId }, requestId }
  await admitUser(userId, context)
  const namespace = await claimIndividualNamespace(transactors, identity.id, userId, names, context)
  await transactors.users.transact(userId, { decide: createUser(names.displayName), answer: () => {} }, context)
  const owner = await createIdentityOf(transactors, userId, identity, context)
  return { userId: owner, active: owner === userId ? { ...namespace, role: 'admin' } : undefined }
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
): Promise<UserAndNamespace> => {
  const { userId, active } = device.user ?? (await signUp(transactors, device.identity, requestId, admitUser))
  const owner = await createIdentityOf(transactors, userId, identity, { actor: { userId }, requestId })
  return { userId: owner, active: owner === userId ? active : undefined }
}
