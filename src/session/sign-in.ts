import { Rejected } from '../engine/rejected.ts'
import { isId, newId } from '../ids.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Credential } from '../user/decide.ts'
import { newAdmission } from './admission.ts'
import { start } from './decide.ts'
import { type Joining, isStillAgreed, resolveJoining } from './joining.ts'
import { linkIdentity } from './link-identity.ts'
import { type UserAndNamespace, findIdentity } from './queries.ts'
import { signUp } from './sign-up.ts'
import { newToken, tokenHash } from './token.ts'
import type { NewSession } from './views.ts'
import type { SignInServices } from './services.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

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
  const { credential, device, agreed, namespaceId, inviteCode, requestId } = request
  const wanted = namespaceId !== undefined && isId(namespaceId) ? namespaceId : undefined
  const found = await findIdentity(service.reads, credential, wanted)
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
 * Starts a session for a credential, and creates its identity and user if there are none. Only the result has the token;
 * the service stores its hash.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of, 400 when the sign-in would do something
 * else than was confirmed, 403 and 410 for a new user who may not sign up
 */
export const signIn = async (service: SignInServices, request: SessionRequest): Promise<NewSession> => {
  const { config, now, sessions, write, assertWritable } = service
  assertWritable()
  const { namespaceId, deviceName, requestId } = request
  const { identityId, user } = await findOrSignUp(service, request)
  const { userId, active } = user
  const [id, token] = [newId(), newToken()]
  const expiresAt = Math.round(now() + config.SESSION_TTL_DAYS * DAY_MS)
  const optional = {
    ...(namespaceId === undefined ? {} : { namespaceId }),
    ...(deviceName === undefined ? {} : { deviceName }),
  }
  const decide = start({ userId, identityId, tokenHash: tokenHash(token), ...optional, expiresAt })
  const context = { actor: { userId, sessionId: id }, requestId }
  await write(sessions, id, { decide }, context)
  const namespaceFields = active && { namespaceId: active.id, namespaceSlug: active.slug, role: active.role }
  return {
    id,
    token,
    userId,
    identityId,
    ...namespaceFields,
    ...(deviceName === undefined ? {} : { deviceName }),
    expiresAt,
  }
}
