import { commandName } from '../../cli/command-name.ts'
import { UsageError } from '../../cli/exit.ts'
import { hasStatus } from '../../client/api/errors.ts'
import { type HistoryClient, newHistoryClient } from '../../client/api/history.ts'
import type { RetryTiming } from '../../client/api/retry.ts'
import { sessionHasEnded } from '../../client/login/connect.ts'
import type { ClientOptions } from '../support/access.ts'
import { type Access, noticedTiming } from '../support/access.ts'
import { findTrace } from '../support/find-trace.ts'

/** Whose history is read, for explanations of refusals: a trace's, or without an externalId a namespace's. */
export type Subject = {
  readonly externalId?: string | undefined
  readonly namespace?: string | undefined
  /** Whether it is read at a revision or time. */
  readonly isPast?: boolean
}

type HistoryAccess = {
  readonly token: string
  readonly namespaceSlug: string
  readonly history: HistoryClient
}

/**
 * Connects as the stored login; with `asNamespace` with a session in the namespace, which realtime queries need.
 * @throws UsageError without a login or without access to the namespace, RequestFailed
 */
export const openHistory = async (
  { server, connect }: Access,
  { asNamespace = false, timing = noticedTiming }: { asNamespace?: boolean; timing?: RetryTiming } = {},
): Promise<HistoryAccess> => {
  const { token, namespaceSlug } = await connect({ readOnly: !asNamespace, timing })
  return { token, namespaceSlug, history: newHistoryClient(server, token, timing) }
}

const forbidden = ({ externalId, namespace }: Subject): string =>
  externalId === undefined
    ? `The timeline of a namespace is for its admins, and you are not an admin of "${namespace}". ` +
      `Ask one of them, or read the timeline of a trace: ${commandName} audit log <id>`
    : `Only members of its namespace may see the history of the trace "${externalId}". Ask one of its admins for an invite.`

const notFound = ({ externalId, namespace, isPast = false }: Subject): string => {
  if (externalId === undefined) return `There is no namespace "${namespace}". Use another one with --namespace.`
  const option = namespace === undefined ? '' : ` --namespace ${namespace}`
  if (isPast)
    return `The trace "${externalId}" did not exist at that revision or time. To list its revisions, run: ${commandName} audit log ${externalId}${option}`
  return `There is no trace "${externalId}" that you may read. To list your traces, run: ${commandName} ls${option}`
}

/** Explains a refusal to the user; any other error is returned unchanged. */
const explained = (error: unknown, server: string, subject: Subject): unknown => {
  if (hasStatus(error, 401)) return sessionHasEnded(server)
  if (hasStatus(error, 400)) return new UsageError(error.message)
  if (hasStatus(error, 403)) return new Error(forbidden(subject), { cause: error })
  if (hasStatus(error, 404)) return new UsageError(notFound(subject), { cause: error })
  return error
}

/** Runs requests about a subject, and explains their refusals. */
export const explaining = async <T>(server: string, subject: Subject, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw explained(error, server, subject)
  }
}

type PastOfTrace = { readonly externalId: string; readonly namespace: string; readonly history: HistoryClient }

/** Runs requests about the past of a trace. @throws what `findTrace`, `openHistory` and `explaining` throw */
export const withPastOf = async <T>(
  given: Access,
  options: ClientOptions,
  name: string,
  work: (past: PastOfTrace) => Promise<T>,
): Promise<T> => {
  const { access, trace } = await findTrace(given, options, name)
  const { externalId } = trace
  const { history } = await openHistory(access)
  return explaining(access.server, { externalId, namespace: options.namespace, isPast: true }, () =>
    work({ externalId, namespace: trace.namespace.slug, history }),
  )
}
