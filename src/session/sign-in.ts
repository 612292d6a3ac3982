import type { NewSession } from '../contract/sessions.ts'
import { Rejected } from '../engine/rejected.ts'
import { isId, newId } from '../base/ids.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Credential } from '../user/decide.ts'
import { newAdmission } from './admission.ts'
import { joinUser } from './join-user.ts'
import { type Joining, isStillAgreed, resolveJoining } from './joining.ts'
import { linkIdentity } from './link-identity.ts'
import { type UserAndNamespace, findIdentity } from './queries.ts'
import type { GivenCode } from './redeem.ts'
import { signUp } from './sign-up.ts'
import { startSession } from './start-session.ts'
import type { SignInServices } from './services.ts'

export type SessionRequest = {
  readonly credential: Credential
  /** A new identity is linked to the user of this device; without a device it gets a user of its own. */
  readonly device?: Credential
  /** What the user has confirmed; undefined when no confirmation is needed. */
  readonly agreed?: Joining | undefined
  /** The namespace that the session is to be active in; default: see `WantedNamespace`. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** For a new user; ignored for an identity that has a user. */
  readonly inviteCode: string | undefined
  /** The code of the user that a new device joins; without one it gets a user of its own. */
  readonly join?: GivenCode | undefined
  readonly requestId: string | undefined
}

/** Checked before anything is stored. @throws 404 for an unknown namespace, 403 when the user is no member of it */
const assertMember = async ({ reads }: SignInServices, user: UserAndNamespace | undefined, namespaceId: string) => {
  if (user?.active?.id === namespaceId) return
  await namespaceById(reads, namespaceId, undefined)
  throw new Rejected('forbidden', 'You are no member of this namespace')
}

/** @throws Rejected invalid_request when the sign-in would do something else than was confirmed */
const assertStillAgreed = (agreed: Joining, present: Joining) => {
  if (isStillAgreed(agreed, present)) return
  throw new Rejected('invalid_request', 'What would be joined has changed meanwhile: sign in again')
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
 * Starts a session for a credential, and creates its identity and user if there are none; with `join` the identity becomes one
 * of an existing user. Only the result has the token; the service stores its hash.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of, 400 when the sign-in would do something
 * else than was confirmed, 403 and 410 for a new user who may not sign up; with `join` 404, 409 and 410 as `joinUser` does
 */
export const signIn = async (service: SignInServices, request: SessionRequest): Promise<NewSession> => {
  service.assertWritable()
  const { namespaceId, deviceName, requestId } = request
  const { identityId, user } = await findOrSignUp(service, request)
  return startSession(service, { id: newId(), user, identityId, namespaceId, deviceName, requestId })
}
