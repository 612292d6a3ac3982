import type { z } from 'zod'
import { check } from '../http/check.ts'
import type { Question } from './answer.ts'
import type { RealtimeServices } from './services.ts'

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

/** The key of a query: different parts give different keys, also where they hold separators. */
export const keyOf = (...parts: readonly (string | number | boolean | bigint | undefined)[]): string =>
  JSON.stringify(parts.map((part) => (part === undefined ? null : String(part))))
