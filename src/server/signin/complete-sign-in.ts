import { afterStored } from '../../eventstore/engine/rejected.ts'
import { type Joining, resolveJoining } from '../session/joining.ts'
import { findIdentity } from '../session/queries.ts'
import { signIn } from '../session/sign-in.ts'
import type { NamesOfNewUser } from '../session/sign-up.ts'
import type { NewSession } from '../../contract/sessions.ts'
import type { SignInReview } from '../../contract/signin.ts'
import type { Credential } from '../user/decide.ts'
import { refresh } from '../user/decide.ts'
import { userById } from '../user/queries.ts'
import type { SignInRequest } from './handshakes.ts'
import type { CodehostServices } from './services.ts'

/** The credential of the device that a sign-in was started on; undefined for a browser that signs in by itself. */
const deviceCredential = ({ deviceKey: key }: SignInRequest): Credential | undefined =>
  key === undefined ? undefined : { type: 'device', key, profile: {} }

/** The user to whom a sign-in would link the account if it were completed now, and the view of this for the user to confirm. */
export const reviewSignIn = async (
  { reads }: Pick<CodehostServices, 'reads'>,
  signIn: SignInRequest,
  credential: Credential,
): Promise<{ readonly joining: Joining; readonly review: SignInReview }> => {
  const started = deviceCredential(signIn)
  const [found, device] = await Promise.all([findIdentity(reads, credential), started && findIdentity(reads, started)])
  const joining = resolveJoining(found.user, device?.user)
  const { providerData = { login: '' } } = credential.profile
  const name = credential.displayName === providerData.login ? undefined : credential.displayName
  const common = {
    account: { ...providerData, ...(name === undefined ? {} : { name }) },
    ...(signIn.deviceName === undefined ? {} : { deviceName: signIn.deviceName }),
    joining: joining.is,
  }
  if (joining.is === 'new') return { joining, review: common }
  const slug = (found.user ?? device?.user)?.active?.slug
  const user = await userById(reads, joining.userId)
  return { joining, review: { ...common, user, ...(slug === undefined ? {} : { namespaceSlug: slug }) } }
}

/**
 * Starts the session of a completed sign-in. A new identity is linked to the device's user; the profile of a known one is
 * updated to what the code host returned.
 * @throws 404 for an unknown namespace, 403 if the user is not a member of it, 400 if the sign-in would do something else than was
 * confirmed, 403 and 410 for a new user who may not sign up
 */
export const completeSignIn = async (
  service: CodehostServices,
  {
    signIn: request,
    credential,
    agreed,
    displayName = credential.displayName,
    slug,
  }: NamesOfNewUser & { readonly signIn: SignInRequest; readonly credential: Credential; readonly agreed?: Joining },
  requestId: string,
): Promise<NewSession> => {
  const { deviceName, namespaceId, inviteCode } = request
  const device = deviceCredential(request)
  const session = await signIn(service, {
    credential,
    ...(device ? { device } : {}),
    agreed,
    namespaceId,
    deviceName,
    inviteCode,
    displayName,
    slug,
    requestId,
  })
  const context = { actor: { userId: session.userId, sessionId: session.id }, requestId }
  const command = { decide: refresh(credential.profile) }
  await afterStored(service.write(service.identities, session.identityId, command, context))
  return session
}
