import { io } from '../../cli/io.ts'
import { UsageError } from '../../cli/exit.ts'
import { say } from '../../cli/output.ts'
import { type ApiClient, newApiClient } from '../../client/api/client.ts'
import { hasStatus } from '../../client/api/errors.ts'
import { newNamespacesClient } from '../../client/api/namespaces.ts'
import { type RetryTiming, realTiming, withNotice, withPatience } from '../../client/api/retry.ts'
import { configDir, serverAddress } from '../../client/config.ts'
import { type Connection, connect } from '../../client/login/connect.ts'
import { readCredentials } from '../../client/login/credentials.ts'

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
  readonly connect: (how?: { readonly readOnly?: boolean; readonly timing?: RetryTiming }) => Promise<Connection>
  /** A client of the API with a token, or without a session. */
  readonly api: (token?: string) => ApiClient
}

/** The server of the options, else of the environment. @throws UsageError */
export const openAccess = ({ server: url, namespace }: ClientOptions): Access => {
  const [config, server] = [configDir(io().env), serverAddress(url, io().env)]
  return {
    config,
    server,
    namespace,
    token: async () => (await readCredentials(config, server))?.login?.token,
    connect: ({ readOnly = true, timing = noticedTiming } = {}) =>
      connect({ config, server, slug: namespace, readOnly }, (address, token) => newApiClient(address, token, timing)),
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

/** The namespace of --namespace, else that of the login. @throws UsageError without a login, RequestFailed */
export const openNamespace = async ({ server, namespace }: Access): Promise<NamespaceAccess> => {
  const { token, namespaceSlug } = await openAccess({ server }).connect()
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
