import { afterStored } from '../engine/rejected.ts'
import type { Service } from '../service.ts'
import type { Joining } from '../session/joining.ts'
import { signIn } from '../session/sign-in.ts'
import type { NewSession } from '../session/views.ts'
import type { Credential } from '../user/decide.ts'
import { refresh } from '../user/decide.ts'
import type { Wish } from './handshakes.ts'

/** The device that a sign-in is for. */
export const deviceOf = ({ deviceKey: key }: Wish): Credential => ({ type: 'device', key, profile: {} })

/**
 * Starts the session that a handshake was for. A new identity comes to belong to the device's user; of a known one
 * what the code host says now is taken over.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of, 400 for what was not agreed to;
 * 403 and 410 for who may not sign up
 */
export const enter = async (
  service: Service,
  { wish, credential, agreed }: { readonly wish: Wish; readonly credential: Credential; readonly agreed?: Joining },
  requestId: string,
): Promise<NewSession> => {
  const { deviceName, namespaceId, inviteCode } = wish
  const device = deviceOf(wish)
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
