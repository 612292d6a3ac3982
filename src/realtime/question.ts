import type { z } from 'zod'
import { check } from '../http/check.ts'
import type { Query } from './live-queries.ts'
import type { RealtimeServices } from './services.ts'

/** A query with its arguments, as one caller asks it. */
export type Question = Query & {
  /** The token that came with the arguments. */
  readonly token?: string | undefined
  /** About how many bytes its value has at most. */
  readonly maxBytes: number
}

/**
 * One kind of query. A token among the arguments counts; without one `token`, that of the request or connection.
 * @throws HttpError invalid_request for arguments that it does not take
 */
export type QueryKind = (
  services: RealtimeServices,
  args: Readonly<Record<string, unknown>>,
  token: string | undefined,
) => Question

type Args = { readonly authToken?: string | undefined }

/** A kind of query, from what its arguments are and what it asks with them, as the caller behind `token`. */
export const queryKind =
  <Given extends Args>(
    schema: z.ZodType<Given>,
    question: (services: RealtimeServices, args: Given, token: string | undefined) => Omit<Question, 'token'>,
  ): QueryKind =>
  (services, given, token) => {
    const args = check(schema, given) as Given
    return { ...question(services, args, args.authToken ?? token), token: args.authToken }
  }

/** The key of a query: other parts give another key, whatever characters they have. */
export const keyOf = (...parts: readonly (string | number | boolean | bigint | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part === undefined ? null : String(part))))
