import { io } from '../../cli/io.ts'
import { UsageError } from '../../cli/exit.ts'
import { say } from '../../cli/output.ts'
import { type ApiClient, newApiClient } from '../../client/api/client.ts'
import { hasStatus } from '../../client/api/errors.ts'
import { newNamespacesClient } from '../../client/api/namespaces.ts'
import { type RetryTiming, realTiming, withNotice, withPatience } from '../../client/api/retry.ts'
import { configDir, serverAddress } from '../../client/config.ts'
import { type Connection, connect, explainEndedSession } from '../../client/login/connect.ts'
import { readCredentials } from '../../client/login/credentials.ts'
import { isMemberOf, type TellLoss, wasIn } from '../../client/login/membership.ts'
import { NamespaceLost } from '../../client/login/namespace-lost.ts'

/** The options that client commands share; `namespace` only where a command takes it. */
export type ClientOptions = { readonly server?: string; readonly namespace?: string; readonly json?: boolean }

/** Waits and retries are reported on stderr. */
export const noticedTiming: RetryTiming = withNotice(realTiming, (line) => void io().stderr.write(line))

/** The same for a command that runs for long. */
export const patientTiming: RetryTiming = withNotice(withPatience(realTiming), (line) => void io().stderr.write(line))

/** A server, and the login that is stored for it. */
export type Access = {
  readonly config: string
  readonly server: string
  /** The namespace of --namespace. */
  readonly namespace: string | undefined
  /** The token of the login; undefined without one: public content needs none. */
  readonly token: () => Promise<string | undefined>
  /**
   * Connects as the login, to its namespace or to that of --namespace. Writing to that one, or subscribing to it, takes a session
   * in it, with `readOnly: false`. @throws UsageError without a login or access, RequestFailed
   */
  readonly connect: (how?: {
    readonly readOnly?: boolean
    readonly timing?: RetryTiming
    readonly tellLoss?: TellLoss
  }) => Promise<Connection>
  /** A client of the API with a token, or without a session. */
  readonly api: (token?: string) => ApiClient
}

/** Says on stderr that the user was removed from the namespace of the login. */
export const sayLoss: TellLoss = (message) => {
  say(message)
  return true
}

/** The same for a process whose output is maybe read by nobody: the next command says it again. */
export const noteLoss: TellLoss = (message) => {
  say(message)
  return false
}

/** The server of the options, else of the environment. @throws UsageError */
export const openAccess = ({ server: url, namespace }: ClientOptions): Access => {
  const [config, server] = [configDir(io().env), serverAddress(url, io().env)]
  return {
    config,
    server,
    namespace,
    token: async () => (await readCredentials(config, server))?.login?.token,
    connect: ({ readOnly = true, timing = noticedTiming, tellLoss = sayLoss } = {}) =>
      connect({ config, server, slug: namespace, readOnly, tellLoss }, (address, token) =>
        newApiClient(address, token, timing),
      ),
    api: (token) => newApiClient(server, token, noticedTiming),
  }
}

/** Said once by a command that is not the only uploader yet. */
export const sayWaiting = (): void => say('Another process of this machine uploads: waiting for it.')

/** Explains a refused request about a namespace. @throws UsageError if there is no such namespace; any other error unchanged */
export const explainNamespace =
  (slug: string, server: string) =>
  (error: unknown): never => {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}.`)
    throw error
  }

/** A namespace, and a client to change it. */
export type NamespaceAccess = {
  readonly server: string
  readonly slug: string
  readonly client: ReturnType<typeof newNamespacesClient>
}

/**
 * Connects as the login, in its own namespace, for requests that name another one themselves. @throws UsageError without a login, and if the user
 * is no longer in the namespace of --namespace; RequestFailed
 */
export const connectLogin = async (access: Access): Promise<Connection> => {
  const { config, server, namespace } = access
  await requireNotLost(access)
  const tellLoss = namespace === undefined ? sayLoss : undefined
  return connect({ config, server, readOnly: true, tellLoss }, (url, token) => newApiClient(url, token, noticedTiming))
}

/**
 * Refuses a namespace of --namespace of which the user has been a member, and is no longer: what is public there is not all that the user means.
 * @throws NamespaceLost, RequestFailed
 */
export const requireNotLost = async ({ config, server, namespace, api }: Access): Promise<void> => {
  const slug = namespace?.trim().toLowerCase()
  const login = slug === undefined ? undefined : (await readCredentials(config, server))?.login
  if (slug === undefined || !login || !wasIn(login, slug)) return
  if (!(await explainEndedSession(server, isMemberOf(api(login.token), slug)))) throw new NamespaceLost(slug)
}

/** The namespace of --namespace, else that of the login. @throws UsageError without a login, RequestFailed */
export const openNamespace = async (access: Access): Promise<NamespaceAccess> => {
  const { server, namespace } = access
  const { token, namespaceSlug } = await connectLogin(access)
  const slug = namespace?.trim().toLowerCase() ?? namespaceSlug
  return { server, slug, client: newNamespacesClient(server, token, noticedTiming) }
}

/** Explains why a namespace may not be changed; `act` says what was refused. @throws UsageError, Error; any other error unchanged */
export const explainNamespaceRefusal =
  ({ server, slug }: Pick<NamespaceAccess, 'server' | 'slug'>, act: string) =>
  (error: unknown): never => {
    if (hasStatus(error, 403))
      throw new Error(`You may not ${act} in the namespace "${slug}": ${error.message}. Ask one of its admins.`, {
        cause: error,
      })
    if (hasStatus(error, 409))
      throw new Error(`${error.message}. Make another member an admin of "${slug}" first.`, { cause: error })
    return explainNamespace(slug, server)(error)
  }
