import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Api, NewSession } from '../api/client.ts'
import { readCredentials, writeCredentials } from './credentials.ts'

type NewApi = (server: string, token?: string) => Api
export type LoggedIn = { readonly userId: string; readonly displayName?: string; readonly namespaceSlug: string }

/** This device's id for `server`: the stored one, or one that is made and stored before it is used. */
export const deviceOf = async (config: string, server: string): Promise<string> => {
  const stored = await readCredentials(config, server)
  const credentials = stored ?? { server, deviceId: randomUUID(), others: [] }
  if (!stored) await writeCredentials(config, credentials)
  return credentials.deviceId
}

/** Stores a new session as the login for `server`, then asks who it belongs to. Throws RequestFailed. */
export const keepLogin = async (
  config: string,
  server: string,
  deviceId: string,
  { token, userId, namespaceId, namespaceSlug }: NewSession,
  newApi: NewApi,
): Promise<LoggedIn> => {
  const login = { token, userId, namespaceId, namespaceSlug }
  await writeCredentials(config, { server, deviceId, login, others: [] })
  const { user } = await newApi(server, token).session()
  return { userId, namespaceSlug, ...(user?.displayName === undefined ? {} : { displayName: user.displayName }) }
}

/**
 * Logs this device in to `server`. Its id is stored before it is used, so that a lost answer leads to the same user the
 * next time. `inviteCode` is for a server that lets in only who is invited. Throws RequestFailed.
 */
export const logIn = async (config: string, server: string, newApi: NewApi, inviteCode?: string): Promise<LoggedIn> => {
  const deviceId = await deviceOf(config, server)
  const session = await newApi(server).newSession({
    deviceId,
    deviceName: hostname(),
    ...(inviteCode === undefined ? {} : { inviteCode }),
  })
  return keepLogin(config, server, deviceId, session, newApi)
}
