import { z } from 'zod'
import { ErrorBody, errors } from '../contract/errors.ts'
import { type Api, FORM_TYPE, type Route } from '../contract/route.ts'

/** The OpenAPI 3.1 document of an API: what `/openapi.json` and the reference show. */

type JsonSchema = z.core.JSONSchema.BaseSchema
type Written = { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: JsonSchema }

/** Removes what zod adds by itself: the bounds of safe integers, and that objects have no further members. */
const override = ({ zodSchema, jsonSchema }: Written): void => {
  const { _zod: zod } = zodSchema
  // zod leaves them out where a value is made of a text; ours are of the text.
  const examples = (z.globalRegistry.get(zodSchema) as { examples?: unknown[] } | undefined)?.examples
  if (examples) jsonSchema.examples ??= examples
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  }
  // Later versions may add optional fields.
  if (zod.def.type === 'object' && !zod.def.catchall) delete jsonSchema.additionalProperties
}

type Schemas = Readonly<Record<string, JsonSchema>>

/** Schemas by name in JSON Schema, and those that they refer to; `io` says which side of a schema is meant. */
const jsonSchemas = (schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output') => {
  const { properties, $defs } = z.toJSONSchema(z.object(schemas), { io, override, unrepresentable: 'any' })
  const text = JSON.stringify({ properties, components: $defs ?? {} }).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { components, ...rest } = JSON.parse(text) as { properties: Schemas; components: Record<string, JsonSchema> }
  for (const component of Object.values(components)) delete component.id
  return { ...rest, components }
}

const pascal = (segment: string) =>
  segment
    .split(/[-_.]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

const isParameter = (segment: string | undefined) => segment?.startsWith('{') === true

/** `PUT /v1/traces/{externalId}` is `putTrace`, `GET /v1/traces` is `getTraces`. */
const operationIdOf = (method: string, path: string): string => {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'v1')
  const words = segments.flatMap((segment, i) =>
    isParameter(segment) ? [] : [pascal(isParameter(segments[i + 1]) ? segment.replace(/s$/, '') : segment)],
  )
  return `${method.toLowerCase()}${words.join('')}`
}

const securities = {
  required: [{ bearer: [] }, { cookie: [] }],
  optional: [{ bearer: [] }, { cookie: [] }, {}],
  none: [],
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

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** The statuses of failures that a route has by its method, path, body and `auth`. */
export const commonFailures = (
  method: string,
  path: string,
  { auth, body }: Pick<Route, 'auth' | 'body'>,
): number[] => {
  if (!path.startsWith('/v1/')) return []
  return [
    400, // any path or head can be invalid
    ...(auth === 'required' ? [401] : []),
    ...(auth === 'none' || method === 'GET' ? [] : [403]),
    ...(body || WITH_BODY.has(method) ? [413] : []),
    ...[429, 500, 503],
  ]
}

type Given = { readonly key: string; readonly method: string; readonly path: string; readonly route: Route }

/** The schemas of a route that clients send, by the place where they stand. */
const sentSchemas = ({ key, route: { path = {}, query = {}, body } }: Given): [string, z.ZodType][] => [
  ...Object.entries(path).map(([name, schema]): [string, z.ZodType] => [`${key} path ${name}`, schema]),
  ...Object.entries(query).map(([name, schema]): [string, z.ZodType] => [`${key} query ${name}`, schema]),
  ...(body && body.is !== 'bytes' ? [[`${key} body`, body.schema] as [string, z.ZodType]] : []),
]

const envelope = (data: z.ZodType) =>
  z.object({
    ok: z.literal(true).meta({ description: 'That the call succeeded' }),
    data: data.meta({ description: 'What the call gives' }),
  })

/** The same of what they get. */
const answeredSchemas = ({ key, route: { answer } }: Given): [string, z.ZodType][] =>
  answer.is === 'json'
    ? [[`${key} 200`, envelope(answer.data)]]
    : Object.entries(answer.statuses).map(([status, schema]) => [`${key} ${status}`, schema])

const contentOf = (schema: object, types: readonly string[]) => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
})

const JSON_TYPES = ['application/json']
const failure = contentOf({ $ref: '#/components/schemas/Error' }, JSON_TYPES)

const answersOf = ({ key, method, path, route }: Given, answered: Schemas) => {
  const { answer, errors: codes = [] } = route
  const failures = [...commonFailures(method, path, route), ...codes.map((code) => errors[code])]
  const successes = answer.is === 'json' ? ['200'] : Object.keys(answer.statuses)
  const answers = [
    ...failures.map((status): [string, object] => [`${status}`, failure]),
    ...successes.map((status): [string, object] => {
      const schema = answered[`${key} ${status}`]!
      const types = answer.is === 'json' ? JSON_TYPES : answer.types
      return [status, schema.type === 'null' ? {} : contentOf(schema, types)]
    }),
  ]
  const described = answers.map(([status, one]) => [status, { description: meanings[status] ?? 'An answer', ...one }])
  const others = path.startsWith('/v1/') ? { default: { description: 'Any other failure', ...failure } } : {}
  return { ...Object.fromEntries(described), ...others }
}

/** The reference page reads an example beside the schema, and not in it. */
const parameterOf = (place: 'path' | 'query', name: string, isRequired: boolean, sent: JsonSchema) => {
  const { description, examples, ...schema } = sent
  const example = examples ? { example: examples[0] } : {}
  return { schema, ...example, in: place, name, required: isRequired, description }
}

const parametersOf = ({ key, route: { path = {}, query = {} } }: Given, sent: Schemas) => {
  const parameters = [
    ...Object.entries(query).map(([name, schema]) =>
      parameterOf('query', name, !schema.safeParse(undefined).success, sent[`${key} query ${name}`]!),
    ),
    ...Object.keys(path).map((name) => parameterOf('path', name, true, sent[`${key} path ${name}`]!)),
  ]
  return parameters.length > 0 ? { parameters } : {}
}

const BYTES = { type: 'string', format: 'binary' }

const bodyOf = ({ key, route: { body } }: Given, sent: Schemas, components: Schemas) => {
  if (!body) return {}
  if (body.is === 'bytes') return { requestBody: { required: true, ...contentOf(BYTES, body.types) } }
  const schema = sent[`${key} body`]!
  const { examples } = schema.$ref ? (components[schema.$ref.split('/').at(-1)!] ?? {}) : schema
  const media = { schema, ...(examples ? { example: examples[0] } : {}) }
  return { requestBody: { required: true, content: { [body.is === 'form' ? FORM_TYPE : 'application/json']: media } } }
}

export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>
  readonly components: { readonly schemas: Schemas }
}

/** The paths and schemas of the document. Schemas are in alphabetical order. */
export const documentOf = (api: Api): OpenApiDocument => {
  const given = Object.entries(api).map(([key, route]): Given => {
    const [method = '', path = ''] = key.split(' ')
    return { key, method, path, route }
  })
  const sent = jsonSchemas(Object.fromEntries(given.flatMap(sentSchemas)), 'input')
  const answered = jsonSchemas({ ...Object.fromEntries(given.flatMap(answeredSchemas)), error: ErrorBody }, 'output')
  const components = { ...sent.components, ...answered.components }
  const paths: Record<string, Record<string, object>> = {}
  for (const one of given) {
    const { method, path, route } = one
    const { id = operationIdOf(method, path), summary, tag, description, auth } = route
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = {
      operationId: id,
      summary,
      tags: [tag],
      description,
      ...bodyOf(one, sent.properties, components),
      ...parametersOf(one, sent.properties),
      security: securities[auth],
      responses: answersOf(one, answered.properties),
    }
  }
  const names = Object.keys(components).sort()
  return { paths, components: { schemas: Object.fromEntries(names.map((name) => [name, components[name]!])) } }
}
