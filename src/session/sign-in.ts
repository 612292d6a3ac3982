import { EXAMPLE_DEVICE_ID } from '../contract/fields.ts'
import { LEAST_DEVICE_ID, type NewSession } from '../contract/sessions.ts'
import { Rejected } from '../engine/rejected.ts'
import { invalid } from '../http/http-error.ts'
import { type NetworkSettings, isReachedByOthers } from '../http/host.ts'
import { isId, newId } from '../base/ids.ts'
import { NOT_MEMBER } from '../namespace/decide.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Credential } from '../user/decide.ts'
import { joinUser } from './join-user.ts'
import { type Joining, isStillAgreed, resolveJoining } from './joining.ts'
import { type UserAndNamespace, findIdentity } from './queries.ts'
import type { GivenCode } from './redeem.ts'
import { linkIdentity, newAdmission, signUp } from './sign-up.ts'
import { startSession } from './start-session.ts'
import type { SignInServices } from './services.ts'

/** @throws HttpError invalid_request for the example of the reference, and for an id that others on the network could guess */
export const assertDeviceId = (deviceId: string, network: NetworkSettings): void => {
  if (deviceId === EXAMPLE_DEVICE_ID)
    throw invalid('deviceId', 'is the example of the reference: make 32 random characters of your own')
  if ([...deviceId].length < LEAST_DEVICE_ID && isReachedByOthers(network))
    throw invalid(
      'deviceId',
      `must have at least ${LEAST_DEVICE_ID} characters, because other machines can reach this service`,
    )
}

export type SessionRequest = {
  readonly credential: Credential
  /** The device whose user a new identity is linked to; without a device, the identity gets a user of its own. */
  readonly device?: Credential
  /** What the user has confirmed; undefined when no confirmation is needed. */
  readonly agreed?: Joining | undefined
  /** The id of the namespace that the session becomes active in. Default: see `WantedNamespace`. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** The invite of a new user; ignored for an identity that has a user. */
  readonly inviteCode: string | undefined
  /** The code of the user that a new device joins; without a code, the device gets a user of its own. */
  readonly join?: GivenCode | undefined
  readonly requestId: string | undefined
}

/** Comes before anything is stored. @throws Rejected not_found for an unknown namespace, forbidden if the user is not a member */
const assertMember = async ({ reads }: SignInServices, user: UserAndNamespace | undefined, namespaceId: string) => {
  if (user?.active?.id === namespaceId) return
  await namespaceById(reads, namespaceId, undefined)
  throw new Rejected('forbidden', NOT_MEMBER)
}

/** @throws Rejected invalid_request if the sign-in would do something else than what the user has confirmed */
const assertStillAgreed = (agreed: Joining, present: Joining) => {
  if (isStillAgreed(agreed, present)) return
  throw new Rejected(
    'invalid_request',
    'The user that account and device would belong to has changed since you confirmed it: sign in again',
  )
}

type IdentityAndUser = { readonly identityId: string; readonly user: UserAndNamespace }

const findOrSignUp = async (service: SignInServices, request: SessionRequest): Promise<IdentityAndUser> => {
  const { credential, device, agreed, namespaceId, inviteCode, join, requestId } = request
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
  if (!owner) return { identityId, user: await signUp(service, identity, requestId, admitUser) }
  const linkTo = { identity: { ...device!, id: owner.id }, user: owner.user }
  return { identityId, user: await linkIdentity(service, identity, linkTo, requestId, admitUser) }
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
  return startSession(service, { id: newId(), user, identityId, namespaceId, deviceName, requestId })
}
