import { z } from 'zod'
import { ErrorBody, type ErrorCode, errors, reasonsOf } from '../../contract/errors.ts'
import { type Api, FORM_TYPE, type Route } from '../../contract/route.ts'

/** The OpenAPI 3.1 document of an API: what `/openapi.json` and the reference show. */

type JsonSchema = z.core.JSONSchema.BaseSchema
type Written = { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: JsonSchema }

/** Removes what zod adds of its own accord: the bounds of safe integers, and that objects have no other members. */
const override = ({ zodSchema, jsonSchema }: Written): void => {
  const { _zod: zod } = zodSchema
  // zod omits the examples of a schema with a transform; ours are of the text before it.
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

/** Schemas as JSON Schema by name, and the components that they refer to; `io` says which side of a transform is meant. */
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

/** What an answer without an error means, by status. */
const successes: Readonly<Record<string, string>> = {
  101: 'The connection becomes a WebSocket',
  200: 'The call succeeded',
  302: 'The browser is redirected to the address in `Location`',
  303: 'The browser is redirected to the address in `Location`',
  304: 'The client has the current version already',
  503: 'The service is not ready; `Retry-After` says after how many seconds to ask again',
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** The errors that a route has by its method, path, body and `auth`. */
const commonErrors = (method: string, path: string, { auth, body }: Pick<Route, 'auth' | 'body'>): ErrorCode[] => {
  if (!path.startsWith('/v1/')) return []
  return [
    'invalid_request', // any path or head can be invalid
    ...(auth === 'required' ? (['unauthorized'] as const) : []),
    ...(auth === 'none' || method === 'GET' ? [] : (['csrf_failed'] as const)),
    ...(body || WITH_BODY.has(method) ? (['payload_too_large'] as const) : []),
    ...(['rate_limited', 'internal', 'unavailable'] as const),
  ]
}

/** The errors of a route by status, each with the sentences that say when it happens. */
const failuresOf = ({ method, path, route }: Given): [string, string][] => {
  const sentences = { ...reasonsOf(...commonErrors(method, path, route)), ...route.errors }
  const byStatus = Map.groupBy(Object.entries(sentences), ([code]) => String(errors[code as ErrorCode]))
  return [...byStatus].map(([status, codes]) => [
    status,
    codes.map(([code, sentence]) => `\`${code}\`: ${sentence}`).join('\n\n'),
  ])
}

type Given = { readonly key: string; readonly method: string; readonly path: string; readonly route: Route }

/** The schemas of what clients send, by their place in the request. */
const sentSchemas = ({ key, route: { path = {}, query = {}, body } }: Given): [string, z.ZodType][] => [
  ...Object.entries(path).map(([name, schema]): [string, z.ZodType] => [`${key} path ${name}`, schema]),
  ...Object.entries(query).map(([name, schema]): [string, z.ZodType] => [`${key} query ${name}`, schema]),
  ...(body && body.is !== 'bytes' ? [[`${key} body`, body.schema] as [string, z.ZodType]] : []),
]

const envelope = (data: z.ZodType) =>
  z.object({
    ok: z.literal(true).meta({ description: 'Always `true`: the call succeeded' }),
    data: data.meta({ description: 'The result of the call' }),
  })

/** The schemas of what clients get. */
const answeredSchemas = ({ key, route: { answer } }: Given): [string, z.ZodType][] =>
  answer.is === 'json'
    ? [[`${key} 200`, envelope(answer.data)]]
    : Object.entries(answer.statuses).map(([status, schema]) => [`${key} ${status}`, schema])

const contentOf = (schema: object, types: readonly string[]) => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
})

const JSON_TYPES = ['application/json']
const failure = contentOf({ $ref: '#/components/schemas/Error' }, JSON_TYPES)

const answersOf = (given: Given, answered: Schemas) => {
  const { key, path, route } = given
  const { answer } = route
  const statuses = answer.is === 'json' ? ['200'] : Object.keys(answer.statuses)
  const answers = [
    ...failuresOf(given).map(([status, description]) => [status, { description, ...failure }]),
    ...statuses.map((status) => {
      const schema = answered[`${key} ${status}`]!
      const types = answer.is === 'json' ? JSON_TYPES : answer.types
      return [status, { description: successes[status], ...(schema.type === 'null' ? {} : contentOf(schema, types)) }]
    }),
  ]
  const others = path.startsWith('/v1/') ? { default: { description: 'Any other error', ...failure } } : {}
  const known = route.hasEtag ? { 304: { description: successes[304] } } : {}
  return { ...Object.fromEntries(answers), ...known, ...others }
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

type OpenApiDocument = {
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
