import type { SwaggerTransform, SwaggerTransformObject } from '@fastify/swagger'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { type Document, showExamples } from './openapi-examples.ts'
import { describeRoute, type RouteSchema } from './openapi-operation.ts'

type Written = { readonly zodSchema: z.core.$ZodTypes; readonly jsonSchema: z.core.JSONSchema.BaseSchema }

/** Removes what zod adds by itself: the bounds of safe integers, and that objects have no further members. */
const override = ({ zodSchema: { _zod: zod }, jsonSchema }: Written): void => {
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  }
  // Later versions may add optional fields.
  if (zod.def.type === 'object' && !zod.def.catchall) delete jsonSchema.additionalProperties
}

const toJsonSchema = createJsonSchemaTransform({ zodToJsonConfig: { override } })
const withComponents = createJsonSchemaTransformObject({ zodToJsonConfig: { override } })

/** Describes a route for `@fastify/swagger`. */
export const transform: SwaggerTransform = (given) => {
  const { schema, url } = toJsonSchema(given as Parameters<typeof toJsonSchema>[0])
  if (!schema || (schema as RouteSchema).hide) return { schema: { ...schema, hide: true }, url }
  return { schema: describeRoute(schema as RouteSchema, url, given.route) as typeof schema, url }
}

const REFERENCE = /"#\/components\/schemas\/(\w+)"/g

/** The names of the schemas that a text refers to, directly or through others. */
const reachable = (text: string, schemas: Readonly<Record<string, unknown>>, found = new Set<string>()) => {
  for (const [, name] of text.matchAll(REFERENCE)) {
    if (found.has(name!)) continue
    found.add(name!)
    reachable(JSON.stringify(schemas[name!]), schemas, found)
  }
  return found
}

/**
 * Completes the document. The type provider adds each schema twice, as `X` and `XInput`; they are equal here, so one is kept.
 * Only schemas that a route uses are kept, in alphabetical order, so that the document does not depend on which modules a
 * process has loaded.
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
