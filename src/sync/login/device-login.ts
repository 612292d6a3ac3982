import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { NewApiClient, NewSession } from '../api/client.ts'
import { readCredentials, writeCredentials } from './credentials.ts'

export type LoggedIn = { readonly userId: string; readonly displayName?: string; readonly namespaceSlug: string }

/** The stored id of this device for `server`; made and stored at the first call. */
export const ensureDeviceId = async (config: string, server: string): Promise<string> => {
  const stored = await readCredentials(config, server)
  const credentials = stored ?? { server, deviceId: randomUUID(), others: [] }
  if (!stored) await writeCredentials(config, credentials)
  return credentials.deviceId
}

/** Stores a new session as the login for `server`, and returns its user. Throws RequestFailed. */
export const storeLogin = async (
  config: string,
  server: string,
  deviceId: string,
  { token, userId, namespaceId, namespaceSlug }: NewSession,
  newClient: NewApiClient,
): Promise<LoggedIn> => {
  const login = { token, userId, namespaceId, namespaceSlug, at: Date.now() }
  await writeCredentials(config, { server, deviceId, login, others: [] })
  const { user } = await newClient(server, token).session()
  return { userId, namespaceSlug, ...(user?.displayName === undefined ? {} : { displayName: user.displayName }) }
}

/**
 * Logs this device in to `server` with its device id. The id is stored before the request, so that a retry after a lost
 * response logs in as the same user. `inviteCode` is for a server that requires an invite. Throws RequestFailed.
 */
export const logInWithDevice = async (
  config: string,
  server: string,
  newClient: NewApiClient,
  inviteCode?: string,
): Promise<LoggedIn> => {
  const deviceId = await ensureDeviceId(config, server)
  const session = await newClient(server).newSession({
    deviceId,
    deviceName: hostname(),
    ...(inviteCode === undefined ? {} : { inviteCode }),
  })
  return storeLogin(config, server, deviceId, session, newClient)
}
