import { isId, newId } from '../../base/ids.ts'
import { EXAMPLE_DEVICE_ID } from '../../contract/fields.ts'
import { LEAST_DEVICE_ID, type NewSession } from '../../contract/sessions.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { isReachedByOthers, type NetworkSettings } from '../http/host.ts'
import { invalid } from '../http/http-error.ts'
import { NOT_MEMBER } from '../namespace/decide.ts'
import { namespaceById } from '../namespace/queries.ts'
import { type Credential, withdrawIdentity } from '../user/decide.ts'
import { isStillAgreed, type Joining, resolveJoining } from './joining.ts'
import { findIdentity, type IdentityLookup, type UserAndNamespace, userAndNamespace } from './queries.ts'
import { assertUsable, claimCode, findCode, type CodeInRequest, keepIfMakerIsValid } from './redeem.ts'
import type { SignInServices } from './services.ts'
import { createIdentityOf, linkIdentity, newAdmission, type NamesOfNewUser, type SignedUp, signUp } from './sign-up.ts'
import { startSession } from './start-session.ts'

type JoinRequest = {
  readonly join: CodeInRequest
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
const joinUser = async (service: SignInServices, request: JoinRequest): Promise<UserAndNamespace> => {
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

/** Checks a device id. @throws HttpError invalid_request for the example in the reference, and for an id that others on the network could guess */
export const assertDeviceId = (deviceId: string, network: NetworkSettings): void => {
  if (deviceId === EXAMPLE_DEVICE_ID)
    throw invalid('deviceId', 'is the example of the reference: make 32 random characters of your own')
  if ([...deviceId].length < LEAST_DEVICE_ID && isReachedByOthers(network))
    throw invalid(
      'deviceId',
      `must have at least ${LEAST_DEVICE_ID} characters, because other machines can reach this service`,
    )
}

type SessionRequest = NamesOfNewUser & {
  readonly credential: Credential
  /** The device whose user a new identity is linked to; without a device, the identity gets a user of its own. */
  readonly device?: Credential
  /** The joining that the user has confirmed; undefined if no confirmation is needed. */
  readonly agreed?: Joining | undefined
  /** The id of the namespace that the session becomes active in. Default: see `WantedNamespace`. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** The invite of a new user; ignored for an identity that has a user. */
  readonly inviteCode: string | undefined
  /** The code of the user that a new device joins; without a code, the device gets a user of its own. */
  readonly join?: CodeInRequest | undefined
  readonly requestId: string | undefined
}

/** Checks a membership, before anything is stored. @throws Rejected not_found for an unknown namespace, forbidden if the user is not a member */
const assertMember = async ({ reads }: SignInServices, user: UserAndNamespace | undefined, namespaceId: string) => {
  if (user?.active?.id === namespaceId) return
  await namespaceById(reads, namespaceId, undefined)
  throw new Rejected('forbidden', NOT_MEMBER)
}

/** @throws Rejected invalid_request if the sign-in would link the identity to another user than the one that was confirmed */
const assertStillAgreed = (agreed: Joining, present: Joining) => {
  if (isStillAgreed(agreed, present)) return
  throw new Rejected(
    'invalid_request',
    'The user that account and device would belong to has changed since you confirmed it: sign in again',
  )
}

type IdentityAndUser = { readonly identityId: string; readonly user: SignedUp }

const findOrSignUp = async (service: SignInServices, request: SessionRequest): Promise<IdentityAndUser> => {
  const { credential, device, agreed, namespaceId, inviteCode, join, requestId, displayName, slug } = request
  const wanted = namespaceId !== undefined && isId(namespaceId) ? namespaceId : undefined
  const found = await findIdentity(service.reads, credential, wanted)
  if (join) {
    const assertUser = async (user: UserAndNamespace) => {
      if (namespaceId !== undefined) await assertMember(service, user, namespaceId)
    }
    const user = await joinUser(service, { join, credential, found, wanted, assertUser, requestId })
    return { identityId: found.id, user }
  }
  const owner = device && !found.user ? await findIdentity(service.reads, device, wanted) : undefined
  if (agreed) assertStillAgreed(agreed, resolveJoining(found.user, owner?.user))
  if (namespaceId !== undefined) await assertMember(service, found.user ?? owner?.user, namespaceId)
  const identityId = found.id
  if (found.user) return { identityId, user: found.user }
  const identity = { ...credential, id: identityId }
  const admitUser = newAdmission(service, identity, inviteCode)
  const names = { displayName, slug }
  if (!owner) return { identityId, user: await signUp(service, identity, requestId, admitUser, names) }
  const linkTo = { identity: { ...device!, id: owner.id }, user: owner.user }
  return { identityId, user: await linkIdentity(service, identity, linkTo, requestId, admitUser, names) }
}

/**
 * Starts a session for a credential, and creates its identity and user if there are none; with `join`, the identity joins an
 * existing user. Only the result has the token; the service stores its hash.
 * @throws Rejected not_found for an unknown namespace, forbidden if the user is not a member of it or may not sign up,
 * invalid_request if the sign-in would do something else than what was confirmed, the errors of the invite, and those of `joinUser`
 */
export const signIn = async (service: SignInServices, request: SessionRequest): Promise<NewSession> => {
  service.assertWritable()
  const { namespaceId, deviceName, requestId } = request
  const { identityId, user } = await findOrSignUp(service, request)
  const { slugRefused } = user
  const session = await startSession(service, { id: newId(), user, identityId, namespaceId, deviceName, requestId })
  return slugRefused ? { ...session, slugRefused } : session
}
