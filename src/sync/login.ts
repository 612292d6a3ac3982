import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Api } from './client.ts'
import { readCredentials, writeCredentials } from './credentials.ts'

type NewApi = (server: string, token?: string) => Api
export type LoggedIn = { readonly userId: string; readonly displayName?: string; readonly namespaceSlug: string }

/**
 * Logs this device in to `server`: keeps its device id, or makes one; stores the token, then asks who it belongs to.
 * The id is stored before it is used, so that a lost answer leads to the same user the next time. Throws RequestFailed.
 */
export const logIn = async (config: string, server: string, newApi: NewApi): Promise<LoggedIn> => {
  const stored = await readCredentials(config, server)
  const credentials = stored ?? { server, deviceId: randomUUID(), others: [] }
  if (!stored) await writeCredentials(config, credentials)
  const { deviceId } = credentials
  const { token, userId, namespaceId, namespaceSlug } = await newApi(server).newSession({
    deviceId,
    deviceName: hostname(),
  })
  const login = { token, userId, namespaceId, namespaceSlug }
  await writeCredentials(config, { server, deviceId, login, others: [] })
  const { user } = await newApi(server, token).session()
  return { userId, namespaceSlug, ...(user?.displayName === undefined ? {} : { displayName: user.displayName }) }
}
