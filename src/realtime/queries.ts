import { invalid } from '../http/http-error.ts'
import { namespaceTraces, publicTraces } from './feed-queries.ts'
import type { Question } from './answer.ts'
import type { QueryKind } from './question.ts'
import type { RealtimeServices } from './services.ts'
import { trace, traceMessages } from './trace-queries.ts'

const kinds: ReadonlyMap<string, QueryKind> = new Map([
  ['feed:getPublicTraces', publicTraces],
  ['feed:getNamespaceTraces', namespaceTraces],
  ['traces:get', trace],
  ['traces:getMessages', traceMessages],
])

/** The names of all queries. */
export const queryNames = [...kinds.keys()]

/**
 * What a client asks by name.
 * @throws HttpError invalid_request for a query or arguments that there are not
 */
export const questionOf = (
  services: RealtimeServices,
  name: string,
  args: Readonly<Record<string, unknown>>,
  token: string | undefined,
): Question => {
  const kind = kinds.get(name)
  if (!kind) throw invalid('query', `must be one of ${queryNames.join(', ')}`)
  return kind(services, args, token)
}
