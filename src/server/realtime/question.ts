import type { z } from 'zod'
import { type QueryName, type ValueOf, queries } from '../../contract/realtime.ts'
import { check } from '../http/check.ts'
import type { JsonText } from '../http/json-text.ts'
import type { Query, Question } from './answer.ts'
import type { RealtimeServices } from './services.ts'

/**
 * One kind of query. A token among the arguments counts; without one `token`, which is that of the request or connection.
 * @throws HttpError invalid_request for invalid arguments
 */
export type QueryKind = (
  services: RealtimeServices,
  args: Readonly<Record<string, unknown>>,
  token: string | undefined,
) => Question

/** A query of the contract, whose value has the type of the contract. */
export type QueryOf<Name extends QueryName> = Query<JsonText<ValueOf<Name>>>

type CheckedArgs<Name extends QueryName> = z.output<(typeof queries)[Name]['args']>

/** Makes a kind of query from a function that returns its question for arguments and a caller's `token`. */
export const queryKind =
  <Name extends QueryName>(
    name: Name,
    question: (
      services: RealtimeServices,
      args: CheckedArgs<Name>,
      token: string | undefined,
    ) => QueryOf<Name> & Pick<Question, 'maxBytes'>,
  ): QueryKind =>
  (services, given, token) => {
    const args = check(queries[name].args, given) as CheckedArgs<Name>
    const { authToken } = args as { readonly authToken?: string | undefined }
    return { ...question(services, args, authToken ?? token), token: authToken }
  }

/** The value of a query that may not be read. */
export const NOTHING = 'null' as JsonText<null>

/** The key of a query. Different parts give different keys, even if they contain separators. */
export const keyOf = (...parts: readonly (string | number | boolean | bigint | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part === undefined ? null : String(part))))
