import { io } from '../../cli/io.ts'
import { UsageError } from '../../cli/exit.ts'
import { type ApiClient, newApiClient } from '../../sync/api/client.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { type RetryTiming, realTiming, withNotice, withPatience } from '../../sync/api/retry.ts'
import { configDir, serverAddress } from '../../sync/config.ts'
import { type Connection, connect } from '../../sync/login/connect.ts'
import { readCredentials } from '../../sync/login/credentials.ts'
import type { ClientOptions } from './client-command.ts'

/** Waits and retries are told on stderr. */
export const noticedTiming: RetryTiming = withNotice(realTiming, (line) => void io().stderr.write(line))

/** The same for a command that goes on for long. */
export const patientTiming: RetryTiming = withNotice(withPatience(realTiming), (line) => void io().stderr.write(line))

/** A server, and the login that is stored for it. */
export type Access = {
  readonly config: string
  readonly server: string
  /** The namespace that the user has named. */
  readonly namespace: string | undefined
  /** The token of the login; undefined without one, which is enough for what is public. */
  readonly token: () => Promise<string | undefined>
  /**
   * Connects as the login, to its namespace or to the one that the user has named. To write in that one, or to subscribe to it,
   * takes a session in it, with `readOnly: false`. @throws UsageError without a login or access, RequestFailed
   */
  readonly connect: (how?: { readonly readOnly?: boolean; readonly timing?: RetryTiming }) => Promise<Connection>
  /** A client of the API without a session, or with the one of a token. */
  readonly api: (token?: string) => ApiClient
}

/** The server that the options, else the environment name. @throws UsageError */
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

/** What a refusal about a namespace means. @throws UsageError for one that is not there; any other error as it is */
export const explainNamespace =
  (slug: string, server: string) =>
  (error: unknown): never => {
    if (hasStatus(error, 404)) throw new UsageError(`There is no namespace "${slug}" at ${server}.`)
    throw error
  }
