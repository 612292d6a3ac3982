import { identityId, sha256 } from '../../src/base/ids.ts'
import { createIdentity } from '../../src/server/user/decide.ts'
import type { App } from './open-app.ts'

/** Adds another device to a user. Returns the id of its identity. */
export const addDevice = async ({ service }: App, userId: string, deviceId: string): Promise<string> => {
  const key = sha256(deviceId)
  const [id, decide] = [identityId('device', key), createIdentity({ userId, type: 'device', key })]
  const { position } = await service.identities.transact(id, { decide, answer: () => {} }, {})
  await service.visible(position)
  return id
}
