import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

/** The schemas of the parameters of a path or a query, by name. A parameter is text on the wire; its schema makes a value of it. */
type Parameters = Readonly<Record<string, z.ZodType>>

/** A body of JSON, checked against a schema and handed on as it was sent. */
type JsonBody<Schema extends z.ZodType = z.ZodType> = { readonly is: 'json'; readonly schema: Schema }
/** The fields of an HTML form on a page of the service. Any site can make a browser post one, so the route checks the origin. */
type FormBody<Schema extends z.ZodType = z.ZodType> = { readonly is: 'form'; readonly schema: Schema }
/** A body that is passed on as bytes, with the content types that it may have. */
type BytesBody = { readonly is: 'bytes'; readonly types: readonly string[] }

/** The data of an answer in the envelope `{"ok": true, "data": …}`. */
type JsonAnswer<Schema extends z.ZodType = z.ZodType> = { readonly is: 'json'; readonly data: Schema }
/** An answer without the envelope: its content types, and the schema of the body for each status that is not an error. */
type OtherAnswer = {
  readonly is: 'other'
  readonly types: readonly string[]
  readonly statuses: Readonly<Record<number, z.ZodType>>
}

export const json = <Schema extends z.ZodType>(schema: Schema): JsonBody<Schema> => ({ is: 'json', schema })
export const form = <Schema extends z.ZodType>(schema: Schema): FormBody<Schema> => ({ is: 'form', schema })
export const bytes = (...types: string[]): BytesBody => ({ is: 'bytes', types })
export const data = <Schema extends z.ZodType>(schema: Schema): JsonAnswer<Schema> => ({ is: 'json', data: schema })
export const other = (types: readonly string[], statuses: OtherAnswer['statuses']): OtherAnswer => ({
  is: 'other',
  types,
  statuses,
})

/** The content type of a form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The groups of the reference, in the order in which a reader needs them. */
export const tags = [
  {
    name: 'sessions',
    description: 'Start a session to get a token, read its user and namespace, switch its namespace, end it.',
  },
  {
    name: 'sign-in',
    description: 'Sign in with a code host; sign a browser in with a one-time code.',
  },
  { name: 'users', description: 'The user of the token, and the devices and accounts that sign in as that user.' },
  { name: 'namespaces', description: 'The owners of traces: a namespace is a person or a team.' },
  { name: 'members', description: 'The users of a namespace and their roles.' },
  { name: 'invites', description: 'Codes by which users join a namespace.' },
  { name: 'traces', description: 'Recorded sessions of coding agents, without their messages.' },
  { name: 'messages', description: 'The messages of a trace and their parts.' },
  {
    name: 'feed',
    description: 'The newest traces: public ones and, if you are signed in, those of your active namespace.',
  },
  { name: 'search', description: 'Messages of all traces that you may read, found by words and fields.' },
  {
    name: 'attribution',
    description: 'Which session wrote a line; commits with the lines that sessions wrote; for members.',
  },
  { name: 'realtime', description: 'Lists and traces that are sent again whenever they change.' },
  { name: 'history', description: 'Who did what and when, and traces as they were in the past; for members.' },
  {
    name: 'audit',
    description:
      'Proofs that the log was not changed: a Merkle tree (RFC 6962) over all events, signed checkpoints (C2SP tlog-checkpoint) and ' +
      'tiles of hashes (C2SP tlog-tiles).',
  },
  { name: 'mcp', description: 'Tools for agents that read sessions, by the Model Context Protocol.' },
  { name: 'models', description: 'Models and their providers, from a public catalogue.' },
  { name: 'operations', description: 'For the operator of the service.' },
] as const satisfies readonly { readonly name: string; readonly description: string }[]

type Tag = (typeof tags)[number]['name']

/** One route of the API: what it takes, what it answers, and what the reference says of it. */
export type Route = {
  /** The operation's id in the OpenAPI document. Default: made of method and path; needed where two routes would get the same one. */
  readonly id?: string
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  /** `required`: 401 without a valid token; `optional`: a caller with a token gets more; `none`: tokens are ignored. */
  readonly auth: 'required' | 'optional' | 'none'
  readonly path?: Parameters
  readonly query?: Parameters
  readonly body?: JsonBody | FormBody | BytesBody
  readonly answer: JsonAnswer | OtherAnswer
  /** Whether answers of JSON have an ETag, and a client that has the current one gets 304. */
  readonly hasEtag?: true
  /**
   * When the route fails, and what to do then: sentences by code. Codes that every route with its method, body and `auth` has
   * are listed only if this route has a reason of its own.
   */
  readonly errors?: { readonly [Code in ErrorCode]?: string }
}

/** Routes by method and path, such as `PUT /v1/traces/{externalId}`: the key is the route's identity on both sides. */
export type Api = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`, Route>>

type ValuesOf<Given> = Given extends Parameters
  ? z.output<z.ZodObject<{ -readonly [Name in keyof Given]: Given[Name] }>>
  : object

/** The values of a route's parameters. */
export type PathOf<R extends Route> = ValuesOf<R['path']>
export type QueryOf<R extends Route> = ValuesOf<R['query']>
/** The body of a route as it is sent, without the defaults of its schema. */
export type BodyOf<R extends Route> = R['body'] extends JsonBody<infer Schema> | FormBody<infer Schema>
  ? z.input<Schema>
  : R['body'] extends BytesBody
    ? Uint8Array | undefined
    : undefined
/** The data that a route answers. */
export type DataOf<R extends Route> = R['answer'] extends JsonAnswer<infer Schema> ? z.output<Schema> : undefined
