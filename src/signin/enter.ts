import { identityId } from '../ids.ts'
import type { Service } from '../service.ts'
import { signIn } from '../session/sign-in.ts'
import type { NewIdentity } from '../session/new-identity.ts'
import type { NewSession } from '../session/views.ts'
import { refresh } from '../user/decide.ts'
import type { Wish } from './handshakes.ts'

/**
 * Starts the session that a handshake was for. A new identity comes to belong to the device's user; of a known one
 * what the code host says now is taken over.
 * @throws 404 for an unknown namespace, 403 for one that the user is no member of; 403, 410 for who may not sign up
 */
export const enter = async (
  service: Service,
  { wish, identity }: { readonly wish: Wish; readonly identity: NewIdentity },
  requestId: string,
): Promise<NewSession> => {
  const { deviceKey: key, deviceName, namespaceId, inviteCode } = wish
  const device = { id: identityId('device', key), type: 'device', key, profile: {} } as const
  const session = await signIn(service, { identity, device, namespaceId, deviceName, inviteCode, requestId })
  const context = { actor: { userId: session.userId, sessionId: session.id }, requestId }
  const command = { decide: refresh(identity.profile), answer: () => {} }
  const { position } = await service.identities.transact(identity.id, command, context)
  await service.visible(position)
  return session
}
