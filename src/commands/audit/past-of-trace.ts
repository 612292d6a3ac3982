import type { HistoryClient } from '../../sync/api/history.ts'
import type { Access } from '../support/access.ts'
import type { ClientOptions } from '../support/client-command.ts'
import { findTrace } from '../support/find-trace.ts'
import { explaining, openHistory } from './history-access.ts'

type PastOfTrace = { readonly externalId: string; readonly namespace: string; readonly history: HistoryClient }

/** Runs requests about the past of the trace that a user names. @throws what `findTrace`, `openHistory` and `explaining` throw */
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
