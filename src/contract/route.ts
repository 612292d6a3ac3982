import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'
import type { Tag } from './tags.ts'

/** The names and schemas of a path's or a query's parameters. A parameter is text on the wire; its schema reads it, and what it gives is its value. */
type Parameters = Readonly<Record<string, z.ZodType>>

/** A body of JSON, checked against a schema and handed on as it came. */
type JsonBody<Schema extends z.ZodType = z.ZodType> = { readonly is: 'json'; readonly schema: Schema }
/** The fields of an HTML form of a page of the service; any site can make a browser post one, so its route checks where it is from. */
type FormBody<Schema extends z.ZodType = z.ZodType> = { readonly is: 'form'; readonly schema: Schema }
/** A body that is passed on as bytes, with the content types that it may have. */
type BytesBody = { readonly is: 'bytes'; readonly types: readonly string[] }

/** The data of an answer in the envelope `{"ok": true, "data": …}`. */
type JsonAnswer<Schema extends z.ZodType = z.ZodType> = { readonly is: 'json'; readonly data: Schema }
/** An answer without the envelope: the content types of a success, and what each status that is no error comes with. */
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

/** One route of the API: what it takes, what it answers, and what the reference says of it. */
export type Route = {
  /** The operation's id in the OpenAPI document, where that which follows from method and path would be another route's. */
  readonly id?: string
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  /** `required`: 401 without a valid token; `optional`: more is shown to who has one; `none`: nobody is asked who they are. */
  readonly auth: 'required' | 'optional' | 'none'
  readonly path?: Parameters
  readonly query?: Parameters
  readonly body?: JsonBody | FormBody | BytesBody
  readonly answer: JsonAnswer | OtherAnswer
  /** The errors that this route has beside those that every route with its method, body and `auth` has. */
  readonly errors?: readonly ErrorCode[]
}

/** Routes by method and path, such as `PUT /v1/traces/{externalId}`: the key is the route's identity on both sides. */
export type Api = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`, Route>>

type ValuesOf<Given> = Given extends Parameters
  ? z.output<z.ZodObject<{ -readonly [Name in keyof Given]: Given[Name] }>>
  : object

/** The values of a route's parameters. */
export type PathOf<R extends Route> = ValuesOf<R['path']>
export type QueryOf<R extends Route> = ValuesOf<R['query']>
/** What the body of a route holds: as it is sent, for it is handed on as it came, without the defaults of its schema. */
export type BodyOf<R extends Route> = R['body'] extends JsonBody<infer Schema> | FormBody<infer Schema>
  ? z.input<Schema>
  : R['body'] extends BytesBody
    ? Uint8Array | undefined
    : undefined
/** The data that a route answers. */
export type DataOf<R extends Route> = R['answer'] extends JsonAnswer<infer Schema> ? z.output<Schema> : undefined
