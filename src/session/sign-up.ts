import { hash } from 'node:crypto'
import type { Context } from '../engine/decide.ts'
import { Rejected } from '../engine/rejected.ts'
import { namespaceId, userId as userIdOf } from '../base/ids.ts'
import { claimNamespace } from '../namespace/decide.ts'
import { type Identity, type NewIdentity, createIdentity, createUser } from '../user/decide.ts'
import type { AdmitUser } from './admission.ts'
import type { UserAndNamespace } from './queries.ts'
import type { SignInServices } from './services.ts'

/** The transactors of the streams that a sign-up writes. */
export type SignUpTransactors = Pick<SignInServices, 'namespaces' | 'users' | 'identities'>

const individualSlug = (identityId: string, attempt: number) =>
  `user-${hash('sha256', identityId, 'hex').slice(0, 8)}${attempt === 0 ? '' : `-${attempt + 1}`}`

/** Creates the user's individual namespace, with a numbered slug when the plain one is taken. */
const claimIndividualNamespace = async (
  { namespaces }: SignUpTransactors,
  identityId: string,
  createdBy: string,
  context: Context,
) => {
  for (let attempt = 0; ; attempt++) {
    const slug = individualSlug(identityId, attempt)
    const id = namespaceId(slug)
    const decide = claimNamespace({ slug, displayName: slug, type: 'individual', createdBy })
    try {
      await namespaces.transact(id, { decide, answer: () => {} }, context)
      return { id, slug }
    } catch (error) {
      if (!(error instanceof Rejected && error.code === 'slug_taken')) throw error
    }
  }
}

/** Creates an identity of a user. Returns the id of its user: another one when the identity exists already. */
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
 * derived from the identity's key, and a step that was done before does nothing: so this may be repeated from any point, and
 * two calls at the same time create one user. When `admitUser` throws, nothing is stored. Returns the identity's user;
 * `active` is undefined when the identity was created for another user in the meantime.
 */
export const signUp = async (
  transactors: SignUpTransactors,
  identity: NewIdentity,
  requestId: string | undefined,
  admitUser: AdmitUser = async () => {},
): Promise<UserAndNamespace> => {
  const userId = userIdOf(identity.id)
  const context: Context = { actor: { userId }, requestId }
  await admitUser(userId, context)
  const namespace = await claimIndividualNamespace(transactors, identity.id, userId, context)
  await transactors.users.transact(userId, { decide: createUser(), answer: () => {} }, context)
  const owner = await createIdentityOf(transactors, userId, identity, context)
  return { userId: owner, active: owner === userId ? { ...namespace, role: 'admin' } : undefined }
}
