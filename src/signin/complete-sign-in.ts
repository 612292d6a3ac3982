import { afterStored } from '../engine/rejected.ts'
import type { Joining } from '../session/joining.ts'
import { signIn } from '../session/sign-in.ts'
import type { NewSession } from '../contract/sessions.ts'
import type { Credential } from '../user/decide.ts'
import { refresh } from '../user/decide.ts'
import type { SignInRequest } from './handshakes.ts'
import type { CodehostServices } from './services.ts'

/** The credential of the device that a sign-in was started on. */
export const deviceCredential = ({ deviceKey: key }: SignInRequest): Credential => ({
  type: 'device',
  key,
  profile: {},
})

/**
 * Starts the session of a completed sign-in. A new identity is linked to the device's user; the profile of a known one is
 * updated to what the code host returned.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of, 400 when the sign-in would do something
 * else than was confirmed, 403 and 410 for a new user who may not sign up
 */
export const completeSignIn = async (
  service: CodehostServices,
  {
    signIn: request,
    credential,
    agreed,
  }: { readonly signIn: SignInRequest; readonly credential: Credential; readonly agreed?: Joining },
  requestId: string,
): Promise<NewSession> => {
  const { deviceName, namespaceId, inviteCode } = request
  const device = deviceCredential(request)
  const session = await signIn(service, {
    credential,
    device,
    agreed,
    namespaceId,
    deviceName,
    inviteCode,
    requestId,
  })
  const context = { actor: { userId: session.userId, sessionId: session.id }, requestId }
  const command = { decide: refresh(credential.profile) }
  await afterStored(service.write(service.identities, session.identityId, command, context))
  return session
}
