import { randomBytes } from 'node:crypto'
import { EXAMPLE_DEVICE_ID, EXAMPLE_SLUG } from '../contract/fields.ts'

type Schema = { readonly $ref?: string; readonly examples?: readonly unknown[] }
type Parameter = { schema?: { examples?: unknown[] }; example?: unknown }
type Operation = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Record<string, { schema: Schema; example?: unknown }> }
}

export type Document = {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

const nameOf = (reference: string) => reference.slice('#/components/schemas/'.length)

const showParameter = (parameter: Parameter) => {
  const { examples } = parameter.schema ?? {}
  if (!examples) return
  parameter.example = examples[0]
  delete parameter.schema!.examples
}

/** Copies examples of schemas to parameters and bodies, where the reference page reads them. */
export const showExamples = ({ paths, components: { schemas } }: Document): void => {
  for (const { parameters = [], requestBody } of Object.values(paths).flatMap((item) => Object.values(item))) {
    parameters.forEach(showParameter)
    for (const media of Object.values(requestBody?.content ?? {})) {
      const { $ref } = media.schema
      const { examples } = $ref === undefined ? media.schema : (schemas[nameOf($ref)] ?? {})
      if (examples) media.example = examples[0]
    }
  }
}

/**
 * The document, as JSON, with examples that one reader can send unchanged: with a random `deviceId`, and a slug that is not
 * taken. The document at `/openapi.json` is the same for all.
 */
export const withOwnExamples = (document: string): string => {
  const [deviceId, slug] = [randomBytes(16).toString('hex'), `${EXAMPLE_SLUG}-${randomBytes(3).toString('hex')}`]
  return document
    .replaceAll(JSON.stringify(EXAMPLE_DEVICE_ID), JSON.stringify(deviceId))
    .replaceAll(JSON.stringify(EXAMPLE_SLUG), JSON.stringify(slug))
}
