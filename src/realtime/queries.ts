import { type QueryName, queryNames } from '../contract/realtime.ts'
import { invalid } from '../http/http-error.ts'
import { namespaceTraces, publicTraces } from './feed-queries.ts'
import type { Question } from './answer.ts'
import type { QueryKind } from './question.ts'
import type { RealtimeServices } from './services.ts'
import { trace, traceMessages } from './trace-queries.ts'

const kinds: { readonly [Name in QueryName]: QueryKind } = {
  'feed:getPublicTraces': publicTraces,
  'feed:getNamespaceTraces': namespaceTraces,
  'traces:get': trace,
  'traces:getMessages': traceMessages,
}

const isQuery = (name: string): name is QueryName => Object.hasOwn(kinds, name)

/**
 * The question for the query that a client names.
 * @throws HttpError invalid_request for an unknown query or invalid arguments
 */
export const questionOf = (
  services: RealtimeServices,
  name: string,
  args: Readonly<Record<string, unknown>>,
  token: string | undefined,
): Question => {
  if (!isQuery(name)) throw invalid('query', `must be one of ${queryNames.join(', ')}`)
  return kinds[name](services, args, token)
}
