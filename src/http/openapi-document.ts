import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { type Document, showExamples } from './openapi-examples.ts'
import { describeRoute, type RouteSchema } from './openapi-operation.ts'

type Written = { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: z.core.JSONSchema.BaseSchema }

/** Takes out what zod says of its own accord: bounds that every double has, and objects that may never grow. */
const override = ({ zodSchema: { _zod: zod }, jsonSchema }: Written): void => {
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  }
  // New optional fields may be added.
  if (zod.def.type === 'object' && !zod.def.catchall) delete jsonSchema.additionalProperties
}

const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig: { override } })
const withComponents = createJsonSchemaTransformObject({ zodToJsonConfig: { override } })

/** How `@fastify/swagger` writes a route. */
export const transform: SwaggerTransform = (given) => {
  const { schema, url } = toJsonSchema(given as Parameters<typeof toJsonSchema>[0])
  if (!schema || (schema as RouteSchema).hide) return { schema: { ...schema, hide: true }, url }
  return { schema: describeRoute(schema as RouteSchema, url, given.route) as typeof schema, url }
}

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g

/** The schemas that a text refers to, and those that these refer to. */
const reachable = (text: string, schemas: Readonly<Record<string, unknown>>, found = new Set<string>()) => {
  for (const [, name] of text.matchAll(REFERENCE)) {
    if (found.has(name!)) continue
    found.add(name!)
    reachable(JSON.stringify(schemas[name!]), schemas, found)
  }
  return found
}

/**
 * The finished document. The type provider names each schema twice, `X` and `XInput`; ours do not differ by direction,
 * so one stays. Only schemas that a route uses are shown, in alphabetical order: which modules a process has loaded, and
 * when, must not show.
 */
export const transformObject: SwaggerTransformObject = (given) => {
  const text = JSON.stringify(withComponents(given)).replaceAll(/("#\/components\/schemas\/\w+)Input"/g, '$1"')
  const document = JSON.parse(text) as Document
  showExamples(document)
  const { schemas } = document.components
  const used = [...reachable(JSON.stringify(document.paths), schemas)].sort()
  const components = { ...document.components, schemas: Object.fromEntries(used.map((name) => [name, schemas[name]])) }
  return { ...document, components } as ReturnType<SwaggerTransformObject>
}
