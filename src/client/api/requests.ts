import type { api } from '../../contract/api.ts'
import type { BodyOf, DataOf, PathOf, QueryOf, Route } from '../../contract/route.ts'
import { parseExact } from '../../base/json/exact.ts'
import { MAX_BYTES } from './exchange.ts'
import { exchange } from './exchange.ts'
import { answerData, networkError } from './answer-data.ts'
import { type RetryTiming, realTiming, withRetry } from './retry.ts'

type Routes = typeof api
/** A route that answers JSON, by its method and path. */
type RouteKey = {
  [Key in keyof Routes]: Routes[Key]['answer']['is'] extends 'json' ? Key : never
}[keyof Routes]

/** A member of a request, which is optional where all of its own members are. */
type InputMember<Name extends string, Value> = object extends Value
  ? { readonly [_ in Name]?: Value }
  : { readonly [_ in Name]: Value }

/** Parameters as values, or as the text that is sent. */
type OrText<Values> = { readonly [Name in keyof Values]: Values[Name] | string }

/** The type of a parsed JSON value: an optional member may be absent, but is never undefined. */
type Parsed<Value> = Value extends object ? { [Name in keyof Value]: Parsed<Exclude<Value[Name], undefined>> } : Value

type PathInput<R extends Route> = 'path' extends keyof R ? InputMember<'path', PathOf<R>> : unknown
type QueryInput<R extends Route> = 'query' extends keyof R ? InputMember<'query', OrText<QueryOf<R>>> : unknown
/** A body, or its JSON text in UTF-8, which is sent as it is. */
type BodyInput<R extends Route> = 'body' extends keyof R
  ? { readonly body: BodyOf<R> } | { readonly json: Buffer }
  : unknown

/** The parameters and the body of a request to a route. */
type InputOf<Key extends RouteKey> = PathInput<Routes[Key]> & QueryInput<Routes[Key]> & BodyInput<Routes[Key]>
export type AnswerOf<Key extends RouteKey> = Parsed<DataOf<Routes[Key]>>

/** The body of a request to a route, and its query. */
export type BodyFor<Key extends keyof Routes> = BodyOf<Routes[Key]>
export type QueryFor<Key extends keyof Routes> = OrText<QueryOf<Routes[Key]>>

/** Sends a request to a route. `input` is optional where all of its members are. */
type Send = <Key extends RouteKey>(
  key: Key,
  ...input: object extends InputOf<Key> ? [input?: InputOf<Key>] : [input: InputOf<Key>]
) => Promise<AnswerOf<Key>>

type Input = {
  readonly path?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly json?: Buffer
}

/** Sends requests to a server. Every method throws RequestFailed. */
export type Requests = {
  /** Sends a request, and repeats it while it fails temporarily. */
  readonly call: Send
  /** Sends a request once, for routes that create something new: if the answer gets lost, it may have been created. */
  readonly once: Send
  /** Like `call`; numbers that a double cannot represent are raw JSON. */
  readonly exactly: Send
}

type RequestsOptions = {
  readonly timing?: RetryTiming
  /** Larger answers are refused. */
  readonly maxBytes?: number
  /** An answer that takes longer has failed. */
  readonly timeoutMs?: number
  /** Called with the headers of each answer. */
  readonly onAnswer?: (headers: Headers) => void
}

const TIMEOUT_MS = 120_000

/** The path and query of a request. */
const addressOf = (template: string, { path = {}, query = {} }: Input): string => {
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return given.length > 0 ? `${filled}?${search}` : filled
}

const bodyOf = ({ body, json }: Input) => json ?? (body === undefined ? undefined : JSON.stringify(body))

/**
 * Requests to `server`, a URL without trailing slash, with a session's `token` if there is one. Redirects are not followed, so that a
 * token never reaches another server.
 */
export const newRequests = (server: string, token: string | undefined, options: RequestsOptions = {}): Requests => {
  const { timing = realTiming, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, onAnswer } = options
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }

  const send = async (key: string, input: Input, parse: (text: string) => unknown): Promise<unknown> => {
    const [method = '', template = ''] = key.split(' ')
    const body = bodyOf(input)
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { accept: 'application/json', ...authorization, ...type }
    const request = { url: `${server}${addressOf(template, input)}`, method, headers, body }
    const answer = await exchange(request, { timeoutMs, maxBytes }).catch((error: unknown) => {
      throw networkError(server, error)
    })
    onAnswer?.(answer.headers)
    return answerData(server, answer, parse)
  }

  const sender = (parse: (text: string) => unknown, isRepeated: boolean) =>
    ((key: string, input: Input = {}) =>
      isRepeated ? withRetry(() => send(key, input, parse), timing) : send(key, input, parse)) as Send

  return { call: sender(JSON.parse, true), once: sender(JSON.parse, false), exactly: sender(parseExact, true) }
}
