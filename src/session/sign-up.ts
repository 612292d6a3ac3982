import { hash } from 'node:crypto'
import type { Context } from '../engine/decide.ts'
import { Rejected } from '../engine/rejected.ts'
import type { ActiveNamespace } from '../http/caller.ts'
import { namespaceId, userId as userIdOf } from '../ids.ts'
import { claimNamespace } from '../namespace/decide.ts'
import { type Identity, createIdentity, createUser } from '../user/decide.ts'
import type { Admit } from './admission.ts'
import type { NewIdentity } from './new-identity.ts'
import type { SignInServices } from './services.ts'

/** What a sign-up writes to. */
export type Writers = Pick<SignInServices, 'namespaces' | 'users' | 'identities'>

/** The identity's user; `active` is absent when the identity has come to belong to another one meanwhile. */
export type SignedUp = { readonly userId: string; readonly active: ActiveNamespace | undefined }

const slugOf = (identityId: string, attempt: number) =>
  `user-${hash('sha256', identityId, 'hex').slice(0, 8)}${attempt === 0 ? '' : `-${attempt + 1}`}`

/** The user's individual namespace; a slug that somebody else has taken gets the next suffix. */
const claim = async ({ namespaces }: Writers, identityId: string, createdBy: string, context: Context) => {
  for (let attempt = 0; ; attempt++) {
    const slug = slugOf(identityId, attempt)
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

/**
 * Makes namespace, user and identity, in this order: the identity's existence means that the others are there. All ids
 * come from the identity's key and what is there counts as done, so that this can be repeated from any point and two
 * racing first calls make one user. `admit` comes before all of it: what it throws leaves nothing made.
 */
export const signUp = async (
  writers: Writers,
  identity: NewIdentity,
  requestId: string | undefined,
  admit: Admit = async () => {},
): Promise<SignedUp> => {
  const { id, type, key, profile } = identity
  const userId = userIdOf(id)
  const context: Context = { actor: { userId }, requestId }
  await admit(userId, context)
  const claimed = await claim(writers, id, userId, context)
  await writers.users.transact(userId, { decide: createUser(), answer: () => {} }, context)
  const decide = createIdentity({ userId, type, key, ...profile })
  const ownerOf = (state: Identity) => (state.is === 'present' ? state.userId : userId)
  const { answer: owner } = await writers.identities.transact(id, { decide, answer: ownerOf }, context)
  return { userId: owner, active: owner === userId ? { ...claimed, role: 'admin' } : undefined }
}
