import { Rejected } from '../engine/rejected.ts'
import { isId, newId } from '../ids.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Service } from '../service.ts'
import { newAdmission } from './admission.ts'
import { start } from './decide.ts'
import { link } from './link-identity.ts'
import { type Joining, isAgreed, joiningOf } from './joining.ts'
import type { Credential } from './new-identity.ts'
import { type KnownUser, findIdentity } from './queries.ts'
import { signUp } from './sign-up.ts'
import { newToken, tokenHash } from './token.ts'
import type { NewSession } from './views.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

export type SignIn = {
  readonly credential: Credential
  /** Whose user the identity comes to belong to when it is new; otherwise it makes a user of its own. */
  readonly device?: Credential
  /** What was agreed to; without it anything is. */
  readonly agreed?: Joining | undefined
  /** The namespace that the session shall be active in; the default one otherwise. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** For a new user; with an identity that has a user already it is not looked at. */
  readonly inviteCode: string | undefined
  readonly requestId: string | undefined
}

/** Refuses before anything is made. @throws 404, 403 */
const assertMayEnter = async ({ reads }: Service, known: KnownUser | undefined, namespaceId: string) => {
  if (known?.active?.id === namespaceId) return
  await namespaceById(reads, namespaceId, undefined)
  throw new Rejected('forbidden', 'You are no member of this namespace')
}

/** @throws Rejected invalid_request when another user would be joined than was agreed to */
const assertAgreed = (agreed: Joining, present: Joining) => {
  if (isAgreed(agreed, present)) return
  throw new Rejected('invalid_request', 'What would be joined has changed meanwhile: sign in again')
}

type Entered = { readonly identityId: string; readonly user: KnownUser }

const findOrSignUp = async (service: Service, wish: SignIn): Promise<Entered> => {
  const { credential, device, agreed, namespaceId, inviteCode, requestId } = wish
  const wanted = namespaceId !== undefined && isId(namespaceId) ? namespaceId : undefined
  const found = await findIdentity(service.reads, credential, wanted)
  const owner = device && !found.user ? await findIdentity(service.reads, device, wanted) : undefined
  if (agreed) assertAgreed(agreed, joiningOf(found.user, owner?.user))
  if (namespaceId !== undefined) await assertMayEnter(service, found.user ?? owner?.user, namespaceId)
  const identityId = found.id
  if (found.user) return { identityId, user: found.user }
  const identity = { ...credential, id: identityId }
  const admit = newAdmission(service, identity, inviteCode)
  if (!owner) return { identityId, user: await signUp(service, identity, requestId, admit) }
  const from = { identity: { ...device!, id: owner.id }, user: owner.user }
  return { identityId, user: await link(service, identity, from, requestId, admit) }
}

/**
 * Starts a session of an identity's user, who is made when there is none. The token is shown here and never again.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of, 400 for what was not agreed to;
 * 403 and 410 for a new user who may not sign up
 */
export const signIn = async (service: Service, wish: SignIn): Promise<NewSession> => {
  const { config, now, sessions, write, assertWritable } = service
  assertWritable()
  const { namespaceId, deviceName, requestId } = wish
  const { identityId, user } = await findOrSignUp(service, wish)
  const { userId, active } = user
  const [id, token] = [newId(), newToken()]
  const expiresAt = Math.round(now() + config.SESSION_TTL_DAYS * DAY_MS)
  const given = {
    ...(namespaceId === undefined ? {} : { namespaceId }),
    ...(deviceName === undefined ? {} : { deviceName }),
  }
  const decide = start({ userId, identityId, tokenHash: tokenHash(token), ...given, expiresAt })
  const context = { actor: { userId, sessionId: id }, requestId }
  await write(sessions, id, { decide }, context)
  const place = active && { namespaceId: active.id, namespaceSlug: active.slug, role: active.role }
  return { id, token, userId, identityId, ...place, ...(deviceName === undefined ? {} : { deviceName }), expiresAt }
}
