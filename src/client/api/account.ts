import { RequestFailed, hasStatus } from './errors.ts'
import { type AnswerOf, newRequests } from './requests.ts'
import { realTiming, type RetryTiming } from './retry.ts'

export type Account = AnswerOf<'GET /v1/session'>
export type Identity = AnswerOf<'GET /v1/user/identities'>['identities'][number]
export type NamespaceInfo = AnswerOf<'GET /v1/namespaces'>['namespaces'][number]
type DeviceCode = AnswerOf<'POST /v1/session/device'>

/** Users paste the code into a shell. Throws RequestFailed if it has other characters than letters, digits and hyphens. */
const checkedCode = (server: string, made: DeviceCode): DeviceCode => {
  if (/^[A-Za-z0-9][A-Za-z0-9-]{0,255}$/.test(made.code)) return made
  throw new RequestFailed(
    `${server}: expected a code of letters, digits and hyphens, got another text. Is this a Tracebook server?`,
  )
}

/**
 * The user of a session at `server`, with their devices and sessions. Temporary failures are retried. Every method throws
 * RequestFailed.
 */
export const newAccountClient = (server: string, token: string, timing: RetryTiming = realTiming) => {
  const { call } = newRequests(server, token, { timing })
  return {
    session: () => call('GET /v1/session'),
    sessions: async () => (await call('GET /v1/sessions')).sessions,
    /** The user's devices, and accounts at the code host. */
    identities: async () => (await call('GET /v1/user/identities')).identities,
    /** Gives the user another name. */
    rename: async (displayName: string) => void (await call('PATCH /v1/user', { body: { displayName } })),
    nameIdentity: async (id: string, name: string) =>
      (await call('PATCH /v1/user/identities/{id}', { path: { id }, body: { name } })).identity,
    removeIdentity: async (id: string) => void (await call('DELETE /v1/user/identities/{id}', { path: { id } })),
    newDeviceCode: async () => checkedCode(server, await call('POST /v1/session/device')),
    /** The page where a browser signs in; `redirectTo` is the page of the server that it shows then. */
    newBrowserPage: (redirectTo?: string) => call('POST /v1/session/browser', { query: { redirectTo } }),
    /** The namespaces of which the user is a member. */
    namespaces: async () => (await call('GET /v1/namespaces')).namespaces,
    /** Makes another namespace the active one of the session. */
    switchTo: async (slug: string) => (await call('POST /v1/session/switch', { body: { slug } })).namespace,
    /** Ends the session; does nothing if it has ended already. */
    signOut: async () => {
      try {
        await call('DELETE /v1/session')
      } catch (error) {
        if (!hasStatus(error, 401)) throw error
      }
    },
  }
}
export type AccountClient = ReturnType<typeof newAccountClient>
