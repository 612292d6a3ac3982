import { Option } from 'commander'
import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import { newApiClient } from '../../sync/api/client.ts'
import { hasStatus } from '../../sync/api/errors.ts'
import { type HistoryClient, newHistoryClient } from '../../sync/api/history.ts'
import { type RetryTiming, realTiming, withNotice } from '../../sync/api/retry.ts'
import { configDir, serverAddress } from '../../sync/config.ts'
import { connect, sessionHasEnded } from '../../sync/login/connect.ts'

export const environmentHelp = `Environment:
  TRACEBOOK_URL         the server, when --server is not given
  TRACEBOOK_CONFIG_DIR  the folder for tokens and state, instead of the platform's own`

/** The server and the namespace, as every command about the past takes them. */
export type AccessOptions = { readonly server?: string; readonly namespace?: string }

export const serverOption = (): Option =>
  new Option('--server <url>', 'the server (default: $TRACEBOOK_URL or http://127.0.0.1:3000)')

/** Whose history is read, for sentences about a refusal; a namespace's own without an externalId. */
export type Subject = {
  readonly externalId?: string | undefined
  readonly namespace?: string | undefined
  /** It is asked for at a revision or time, which may not be there. */
  readonly isPast?: boolean
}

export type Access = {
  readonly server: string
  readonly token: string
  readonly namespaceSlug: string
  readonly history: HistoryClient
}

/** Waits and retries are told on stderr. */
export const noticedTiming: RetryTiming = withNotice(realTiming, (line) => void process.stderr.write(line))

/**
 * Connects as the stored login; with `asNamespace` by a session in the namespace, which realtime queries need.
 * @throws UsageError without a login or without access to the namespace, RequestFailed
 */
export const openHistory = async (
  { server: url, namespace }: AccessOptions,
  { asNamespace = false, timing = noticedTiming }: { asNamespace?: boolean; timing?: RetryTiming } = {},
): Promise<Access> => {
  const server = serverAddress(url, process.env)
  const options = { config: configDir(process.env), server, slug: namespace, readOnly: !asNamespace }
  const { token, namespaceSlug } = await connect(options, (address, token) => newApiClient(address, token, timing))
  return { server, token, namespaceSlug, history: newHistoryClient(server, token, timing) }
}

const forbidden = ({ externalId, namespace }: Subject): string =>
  externalId === undefined
    ? `The timeline of a namespace is for its admins, and you are none of "${namespace}". ` +
      `Ask one of them, or name a trace: ${commandName} audit log <externalId>`
    : `Only members of its namespace may see the history of the trace "${externalId}". Ask an admin of it for an invite.`

const notFound = ({ externalId, namespace, isPast = false }: Subject): string => {
  if (externalId === undefined) return `There is no namespace "${namespace}". Name another one with --namespace.`
  const option = namespace === undefined ? '' : ` --namespace ${namespace}`
  const where = namespace === undefined ? '' : ` in the namespace "${namespace}"`
  const none = `There is no trace "${externalId}"${where} that you may read`
  return isPast
    ? `${none}, or not at that revision or time. Its revisions: ${commandName} audit log ${externalId}${option}`
    : `${none}. The traces of your namespace are listed by: ${commandName} tail`
}

/** What a refusal means for the user, and what to do about it; any other error as it is. */
export const explained = (error: unknown, server: string, subject: Subject): unknown => {
  if (hasStatus(error, 401)) return sessionHasEnded(server)
  if (hasStatus(error, 400)) return new UsageError(error.message)
  if (hasStatus(error, 403)) return new Error(forbidden(subject), { cause: error })
  if (hasStatus(error, 404)) return new Error(notFound(subject), { cause: error })
  return error
}

/** Runs requests about a subject. @throws what `explained` makes of their errors */
export const explaining = async <T>(server: string, subject: Subject, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw explained(error, server, subject)
  }
}
