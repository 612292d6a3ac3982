import { Rejected } from '../engine/rejected.ts'
import { isId, newId } from '../ids.ts'
import { namespaceById } from '../namespace/queries.ts'
import type { Service } from '../service.ts'
import { newAdmission } from './admission.ts'
import { start } from './decide.ts'
import { link } from './link.ts'
import { type KnownUser, findUser } from './queries.ts'
import type { NewIdentity } from './new-identity.ts'
import { signUp } from './sign-up.ts'
import { newToken, tokenHash } from './token.ts'
import type { NewSession } from './views.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

export type SignIn = {
  readonly identity: NewIdentity
  /** Whose user the identity comes to belong to when it is new; otherwise it makes a user of its own. */
  readonly device?: NewIdentity
  /** The namespace that the session shall be active in; the default one otherwise. */
  readonly namespaceId: string | undefined
  readonly deviceName: string | undefined
  /** For a new user; with an identity that has a user already it is not looked at. */
  readonly inviteCode: string | undefined
  readonly requestId: string | undefined
}

/** Refuses before anything is made (readings: a refused first call creates nothing). @throws 404, 403 */
const assertMayEnter = async ({ reads }: Service, known: KnownUser | undefined, namespaceId: string) => {
  if (known?.active?.id === namespaceId) return
  await namespaceById(reads, namespaceId, undefined)
  throw new Rejected('forbidden', 'You are no member of this namespace')
}

const findOrSignUp = async (
  service: Service,
  { identity, device, namespaceId, inviteCode, requestId }: SignIn,
): Promise<KnownUser> => {
  const wanted = namespaceId !== undefined && isId(namespaceId) ? namespaceId : undefined
  const known = await findUser(service.reads, identity.id, wanted)
  const user = known ?? (device && (await findUser(service.reads, device.id, wanted)))
  if (namespaceId !== undefined) await assertMayEnter(service, user, namespaceId)
  if (known) return known
  const admit = newAdmission(service, identity, inviteCode)
  return device
    ? link(service, identity, { identity: device, user }, requestId, admit)
    : signUp(service, identity, requestId, admit)
}

/**
 * Starts a session of an identity's user, who is made when there is none. The token is shown here and never again.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of; 403 and 410 for a new user
 * who may not sign up
 */
export const signIn = async (service: Service, wish: SignIn): Promise<NewSession> => {
  const { config, now, sessions, visible, assertWritable } = service
  assertWritable()
  const { identity, namespaceId, deviceName, requestId } = wish
  const { userId, active } = await findOrSignUp(service, wish)
  const [id, token] = [newId(), newToken()]
  const identityId = identity.id
  const expiresAt = Math.round(now() + config.SESSION_TTL_DAYS * DAY_MS)
  const given = {
    ...(namespaceId === undefined ? {} : { namespaceId }),
    ...(deviceName === undefined ? {} : { deviceName }),
  }
  const decide = start({ userId, identityId, tokenHash: tokenHash(token), ...given, expiresAt })
  const context = { actor: { userId, sessionId: id }, requestId }
  const { position } = await sessions.transact(id, { decide, answer: () => {} }, context)
  await visible(position)
  const place = active && { namespaceId: active.id, namespaceSlug: active.slug, role: active.role }
  return { id, token, userId, identityId, ...place, ...(deviceName === undefined ? {} : { deviceName }), expiresAt }
}
