import { RequestFailed, hasStatus } from './errors.ts'
import { newHttp } from './http.ts'
import type { components } from './openapi.d.ts'
import { responseData, type SendRequest } from './response-data.ts'
import { realTiming, type RetryTiming, withRetry } from './retry.ts'

type Schemas = components['schemas']

export type Account = Schemas['CurrentSession']
export type Identity = Schemas['Identity']
export type Session = Schemas['Session']
export type NamespaceInfo = Schemas['NamespaceInfo']

/** The user of a session, with their devices and sessions. Every method throws RequestFailed. */
export type AccountClient = {
  readonly session: () => Promise<Account>
  readonly sessions: () => Promise<readonly Session[]>
  /** Devices, and accounts at the code host. */
  readonly identities: () => Promise<readonly Identity[]>
  /** Gives the user another name. */
  readonly rename: (displayName: string) => Promise<void>
  readonly nameIdentity: (id: string, name: string) => Promise<Identity>
  readonly removeIdentity: (id: string) => Promise<void>
  readonly newDeviceCode: () => Promise<Schemas['DeviceCode']>
  /** The page where a browser signs in; `redirectTo` is the page of the server where it goes then. */
  readonly newBrowserPage: (redirectTo?: string) => Promise<Schemas['BrowserStarted']>
  readonly namespaces: () => Promise<readonly NamespaceInfo[]>
  /** Makes another namespace the active one of the session. */
  readonly switchTo: (slug: string) => Promise<NamespaceInfo>
  /** Ends the session; does nothing when it has ended. */
  readonly signOut: () => Promise<void>
}

/** The code becomes part of a line for a shell. Throws RequestFailed for one that is more than letters, digits and hyphens. */
const checkedCode = (server: string, made: Schemas['DeviceCode']): Schemas['DeviceCode'] => {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,255}$/.test(made.code)) return made
  throw new RequestFailed(`${server}: it gives a code that is none`)
}

/** The client of one session's user at `server`. Temporary failures are retried. */
export const newAccountClient = (server: string, token: string, timing: RetryTiming = realTiming): AccountClient => {
  const http = newHttp(server, token)
  const call = <Data>(send: SendRequest<Data>): Promise<Data> => withRetry(() => responseData(server, send), timing)
  const query = (redirectTo: string | undefined) => (redirectTo === undefined ? {} : { redirectTo })
  return {
    session: () => call(() => http.GET('/v1/session')),
    sessions: async () => (await call(() => http.GET('/v1/sessions'))).sessions,
    identities: async () => (await call(() => http.GET('/v1/user/identities'))).identities,
    rename: async (displayName) => void (await call(() => http.PATCH('/v1/user', { body: { displayName } }))),
    nameIdentity: async (id, name) =>
      (await call(() => http.PATCH('/v1/user/identities/{id}', { params: { path: { id } }, body: { name } }))).identity,
    removeIdentity: async (id) =>
      void (await call(() => http.DELETE('/v1/user/identities/{id}', { params: { path: { id } } }))),
    newDeviceCode: async () => checkedCode(server, await call(() => http.POST('/v1/session/device'))),
    newBrowserPage: (redirectTo) =>
      call(() => http.POST('/v1/session/browser', { params: { query: query(redirectTo) } })),
    namespaces: async () => (await call(() => http.GET('/v1/namespaces'))).namespaces,
    switchTo: async (slug) => (await call(() => http.POST('/v1/session/switch', { body: { slug } }))).namespace,
    signOut: async () => {
      try {
        await call(() => http.DELETE('/v1/session'))
      } catch (error) {
        if (!hasStatus(error, 401)) throw error
      }
    },
  }
}
