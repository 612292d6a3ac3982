import { Rejected } from '../engine/rejected.ts'
import { type Credential, withdrawIdentity } from '../user/decide.ts'
import { type IdentityLookup, type UserAndNamespace, userAndNamespace } from './queries.ts'
import { type GivenCode, assertUsable, claimCode, findCode, keepIfMakerIsValid } from './redeem.ts'
import { createIdentityOf } from './sign-up.ts'
import type { SignInServices } from './services.ts'

export type JoinRequest = {
  readonly join: GivenCode
  readonly credential: Credential
  /** The identity of the device. If it has a user already, only the code by which it joined that user is accepted again. */
  readonly found: IdentityLookup
  /** The id of the namespace that the session becomes active in. */
  readonly wanted: string | undefined
  /** Called before anything is stored. @throws Rejected if the user is not a member of the wanted namespace */
  readonly assertUser: (user: UserAndNamespace) => Promise<void>
  readonly requestId: string | undefined
}

const deviceKnown = () =>
  new Rejected(
    'device_known',
    'This device belongs to a user already, and can join no other: remove it from that user first',
  )

/**
 * Makes a device an identity of the user whose session has made the code, and returns that user. The code is claimed for
 * the id of the new identity before the identity is created: so only one of several devices joins, the same device may repeat the request
 * after any step, and a device that was removed after it joined cannot come back with the code.
 * If the session that made the code has ended meanwhile, the new identity is removed.
 * @throws Rejected not_found, code_used and code_expired for the code, device_known for a device with another user
 */
export const joinUser = async (service: SignInServices, request: JoinRequest): Promise<UserAndNamespace> => {
  const { join, credential, found, wanted, assertUser, requestId } = request
  const stored = await findCode(service, 'join', join)
  const { userId, sessionId } = stored.terms
  const hasClaimed = stored.usedBy === found.id
  if (found.user) {
    if (hasClaimed && found.user.userId === userId) {
      await assertUser(found.user)
      return found.user
    }
    if (hasClaimed) await service.codes.release('join', join.code, found.id)
    throw deviceKnown()
  }
  await assertUsable(service, stored, found.id)
  const user = await userAndNamespace(service.reads, userId, wanted)
  await assertUser(user)
  await claimCode(service, 'join', join.code, found.id)
  const context = { actor: { userId, sessionId }, requestId }
  const owner = await createIdentityOf(service, userId, { ...credential, id: found.id }, context)
  if (owner === userId) {
    const takeBack = () => service.write(service.users, userId, { decide: withdrawIdentity(found.id) }, context)
    await keepIfMakerIsValid(service, stored.terms, takeBack)
    return user
  }
  // Meanwhile the device has become an identity of another user: another device may use the code.
  await service.codes.release('join', join.code, found.id)
  throw deviceKnown()
}
