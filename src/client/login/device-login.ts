import { hostname } from 'node:os'
import type { NewApiClient, NewSession } from '../api/client.ts'
import { type Credentials, ensureCredentials, serviceOf, takeAddress, writeCredentials } from './credentials.ts'
import { activeIn } from './membership.ts'
import type { NewPerson } from './new-person.ts'

/** `keptAside`: where the credentials of the machine's earlier user are now, if it had one. */
export type LoggedIn = {
  readonly userId: string
  readonly displayName?: string
  readonly namespaceSlug: string
  readonly keptAside?: string
  /** Why a new user has not got the slug that was asked for. */
  readonly slugRefused?: NonNullable<NewSession['slugRefused']>
}

/** Stores a new session of a device as the login for its server, and returns its user. Throws RequestFailed. */
export const storeLogin = async (
  config: string,
  credentials: Credentials,
  { token, userId, namespaceId, namespaceSlug, slugRefused }: NewSession,
  newClient: NewApiClient,
): Promise<LoggedIn> => {
  const { server, deviceId, login: before } = credentials
  const known =
    before?.userId === userId ? activeIn(before, { id: namespaceId, slug: namespaceSlug }).memberOf : undefined
  const login = { token, userId, namespaceId, namespaceSlug, at: Date.now(), ...(known && { memberOf: known }) }
  await writeCredentials(config, { ...serviceOf(credentials), deviceId, login, others: [] })
  const keptAside = await takeAddress(config, credentials)
  const { user } = await newClient(server, token).session()
  return {
    userId,
    namespaceSlug,
    ...(user?.displayName === undefined ? {} : { displayName: user.displayName }),
    ...(keptAside === undefined ? {} : { keptAside }),
    ...(slugRefused === undefined ? {} : { slugRefused }),
  }
}

/**
 * Logs this device in to `server` with its device id. The id is stored before the request, so that a retry after a lost
 * response logs in as the same user. `inviteCode` is for a server that requires an invite, `log` the log that the server has, `person` what a new
 * user is called. Throws RequestFailed.
 */
export const logInWithDevice = async (
  config: string,
  server: string,
  newClient: NewApiClient,
  inviteCode?: string,
  log?: string,
  person: NewPerson = {},
): Promise<LoggedIn> => {
  const credentials = await ensureCredentials(config, server, log)
  const session = await newClient(server).newSession({
    deviceId: credentials.deviceId,
    deviceName: hostname(),
    ...(inviteCode === undefined ? {} : { inviteCode }),
    ...person,
  })
  return storeLogin(config, credentials, session, newClient)
}
