import type { FastifyContextConfig } from 'fastify'
import { EXAMPLE_ID, EXAMPLE_SLUG } from '../contract/fields.ts'

/** Adds to the description of each route what follows from its method, path and `auth`: id, security, parameters, failures. */

type JsonObject = Record<string, unknown>

/** The schema of a route, converted to JSON Schema. */
export type RouteSchema = {
  readonly hide?: boolean
  readonly operationId?: string
  readonly params?: JsonObject
  readonly querystring?: JsonObject
  readonly body?: JsonObject
  readonly consumes?: readonly string[]
  readonly produces?: readonly string[]
  readonly response?: Readonly<Record<string, JsonObject>>
}

/** Ids of routes for which `operationIdOf` would give the id of another one. */
const ownIds: Readonly<Record<string, string>> = {
  'DELETE /v1/sessions/:id': 'deleteSessionById',
  'DELETE /v1/user/identities/:id': 'deleteUserIdentity',
}

const pascal = (segment: string) =>
  segment
    .split(/[-_.]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** `PUT /v1/traces/:externalId` is `putTrace`, `GET /v1/traces` is `getTraces`. */
const operationIdOf = (method: string, url: string): string => {
  const segments = url.split('/').filter((segment) => segment !== '' && segment !== 'v1')
  const words = segments.flatMap((segment, i) => {
    if (segment.startsWith(':')) return []
    return pascal(segments[i + 1]?.startsWith(':') ? segment.replace(/s$/, '') : segment)
  })
  return ownIds[`${method} ${url}`] ?? `${method.toLowerCase()}${words.join('')}`
}

const securities = {
  required: [{ bearer: [] }, { cookie: [] }],
  optional: [{ bearer: [] }, { cookie: [] }, {}],
  none: [],
}

const parameters: Readonly<Record<string, JsonObject>> = {
  externalId: { description: 'The id that the client has chosen for the trace', examples: ['my-first-session'] },
  messageExternalId: {
    description: 'The id that the client has chosen for the message, unique in its trace',
    examples: ['message-1'],
  },
  slug: { description: 'The slug of the namespace', examples: [EXAMPLE_SLUG] },
  userId: { description: 'The id of the member’s user', examples: [EXAMPLE_ID] },
  code: { description: 'The code of the invite', examples: ['a1B2c3D4e'] },
  revision: { description: 'The revision of the event in its stream', examples: [4] },
  traceId: { description: 'The id of the trace', examples: [EXAMPLE_ID] },
  id: { description: 'The id of the session', examples: [EXAMPLE_ID] },
  limit: {
    type: 'integer',
    minimum: 0,
    description: 'At most this many entries; above 1000 counts as 1000. Default: 50',
    examples: [20],
  },
  cursor: { description: 'Where to go on: `nextCursor` of the page before. Absent: the first page' },
  provider: { description: 'Only models of this provider', examples: ['openai'] },
  q: { description: 'Words that must all stand in the id or the name', examples: ['gpt'] },
  providerId: { description: 'The id of the provider', examples: ['openai'] },
  modelId: { description: 'The id of the model at its provider', examples: ['gpt-5'] },
  v: { description: 'The version of the picture, for caches' },
  includeParts: {
    type: 'boolean',
    description: 'Whether each message comes with its parts. Default: `false`',
    examples: [true],
  },
}

const described = (schema: JsonObject | undefined): { properties?: JsonObject } | undefined => {
  if (!schema?.properties) return schema
  const properties = Object.entries(schema.properties as Record<string, JsonObject>).map(([name, given]) => {
    const ours = parameters[name] ?? {}
    // A route with a description of its own for `id` or `code` has another parameter of that name.
    if (given.description !== undefined && !ours.type) return [name, given]
    // The type that clients mean, where a query string has text.
    const description = given.description ?? ours.description
    return [name, ours.type ? { ...ours, description } : { ...ours, ...given }]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

const meanings: Readonly<Record<string, string>> = {
  101: 'The protocol changes',
  200: 'Done',
  302: 'Go on there',
  303: 'Go on there',
  304: 'It is as you know it',
  400: 'The request is not valid: `invalid_request`',
  401: 'There is no valid token: `unauthorized`',
  403: 'The caller may not do this: `forbidden`; a cookie without its CSRF token: `csrf_failed`; a namespace that is full: `quota_exceeded`',
  404: 'There is none, or none that the caller may know of: `not_found`',
  409: 'It would leave the namespace without an admin: `last_admin`; the user without a way to sign in: `last_identity`; the device has a user already: `device_known`',
  410: 'The invite is over: `invite_revoked`, `invite_expired` or `invite_used`; or the one-time code is: `code_used` or `code_expired`; or the trace was deleted: `deleted`',
  413: 'The body is too large, or would not fit into an empty namespace: `payload_too_large`',
  429: 'Too many requests: `rate_limited`; `Retry-After` says when to try again',
  500: 'Something broke on our side: `internal`',
  503: 'Not now: `unavailable`; `Retry-After` says when to try again',
}

const otherFailures = 'Any other failure'

const JSON_TYPE = ['application/json']

const contentOf = (description: string, schema: JsonObject, types: readonly string[] = JSON_TYPE) => ({
  description,
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
})

type Route = { readonly method: string | string[]; readonly config?: FastifyContextConfig | undefined }

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** The statuses of failures that a route has by its method, body and `auth`. */
export const commonFailures = (
  url: string,
  { body, consumes }: { readonly body?: unknown; readonly consumes?: readonly string[] | undefined },
  { method, config }: Route,
): string[] => {
  if (!url.startsWith('/v1/')) return []
  const { auth = 'none' } = config ?? {}
  const hasBody = body !== undefined || consumes !== undefined || WITH_BODY.has(String(method))
  return [
    '400', // any path or head can be invalid
    ...(auth === 'required' ? ['401'] : []),
    ...(auth === 'none' || method === 'GET' ? [] : ['403']),
    ...(hasBody ? ['413'] : []),
    ...['429', '500', '503'],
  ]
}

const failure: JsonObject = { $ref: '#/components/schemas/Error' }

const answersOf = (url: string, route: RouteSchema, how: Route) => {
  const { response: own = { 200: { type: 'null' } }, produces } = route
  const common = Object.fromEntries(commonFailures(url, route, how).map((status) => [status, failure]))
  const answers = Object.entries({ ...common, ...own }).map(([status, schema]) => {
    const description = meanings[status] ?? 'An answer'
    if (schema.content || schema.type === 'null') return [status, { description, ...schema }]
    return [status, contentOf(description, schema, status < '300' ? produces : undefined)]
  })
  const others = url.startsWith('/v1/') ? { default: contentOf(otherFailures, failure) } : {}
  return { ...Object.fromEntries(answers), ...others }
}

/** The schema of a body; bytes for a route that only names content types. */
const bodyOf = ({ body, consumes }: RouteSchema) => body ?? (consumes && { type: 'string', format: 'binary' })

/** Adds to a route's schema what its method, its path and its `auth` say. */
export const describeRoute = <S extends RouteSchema>(schema: S, url: string, route: Route): S => ({
  ...schema,
  operationId: schema.operationId ?? operationIdOf(String(route.method), url),
  security: securities[route.config?.auth ?? 'none'],
  params: described(schema.params),
  querystring: described(schema.querystring),
  body: bodyOf(schema),
  response: answersOf(url, schema, route),
})
