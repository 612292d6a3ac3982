import { RequestFailed, hasStatus } from './errors.ts'
import { type AnswerOf, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

export type Account = AnswerOf<'GET /v1/session'>
export type Identity = AnswerOf<'GET /v1/user/identities'>['identities'][number]
export type Session = AnswerOf<'GET /v1/sessions'>['sessions'][number]
export type NamespaceInfo = AnswerOf<'GET /v1/namespaces'>['namespaces'][number]
type DeviceCode = AnswerOf<'POST /v1/session/device'>

/** The user of a session, with their devices and sessions. Every method throws RequestFailed. */
export type AccountClient = {
  readonly session: () => Promise<Account>
  readonly sessions: () => Promise<readonly Session[]>
  /** The user's devices, and accounts at the code host. */
  readonly identities: () => Promise<readonly Identity[]>
  /** Gives the user another name. */
  readonly rename: (displayName: string) => Promise<void>
  readonly nameIdentity: (id: string, name: string) => Promise<Identity>
  readonly removeIdentity: (id: string) => Promise<void>
  readonly newDeviceCode: () => Promise<DeviceCode>
  /** The page where a browser signs in; `redirectTo` is the page of the server that it shows then. */
  readonly newBrowserPage: (redirectTo?: string) => Promise<AnswerOf<'POST /v1/session/browser'>>
  readonly namespaces: () => Promise<readonly NamespaceInfo[]>
  /** Makes another namespace the active one of the session. */
  readonly switchTo: (slug: string) => Promise<NamespaceInfo>
  /** Ends the session; does nothing if it has ended already. */
  readonly signOut: () => Promise<void>
}

/** Users paste the code into a shell. Throws RequestFailed if it has other characters than letters, digits and hyphens. */
const checkedCode = (server: string, made: DeviceCode): DeviceCode => {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,255}$/.test(made.code)) return made
  throw new RequestFailed(
    `${server}: expected a code of letters, digits and hyphens, got another text. Is this a Tracebook server?`,
  )
}

/** The client of one session's user at `server`. Temporary failures are retried. */
export const newAccountClient = (server: string, token: string, timing: RetryTiming = realTiming): AccountClient => {
  const { call } = newRequests(server, token, { timing })
  return {
    session: () => call('GET /v1/session'),
    sessions: async () => (await call('GET /v1/sessions')).sessions,
    identities: async () => (await call('GET /v1/user/identities')).identities,
    rename: async (displayName) => void (await call('PATCH /v1/user', { body: { displayName } })),
    nameIdentity: async (id, name) =>
      (await call('PATCH /v1/user/identities/{id}', { path: { id }, body: { name } })).identity,
    removeIdentity: async (id) => void (await call('DELETE /v1/user/identities/{id}', { path: { id } })),
    newDeviceCode: async () => checkedCode(server, await call('POST /v1/session/device')),
    newBrowserPage: (redirectTo) => call('POST /v1/session/browser', { query: { redirectTo } }),
    namespaces: async () => (await call('GET /v1/namespaces')).namespaces,
    switchTo: async (slug) => (await call('POST /v1/session/switch', { body: { slug } })).namespace,
    signOut: async () => {
      try {
        await call('DELETE /v1/session')
      } catch (error) {
        if (!hasStatus(error, 401)) throw error
      }
    },
  }
}
