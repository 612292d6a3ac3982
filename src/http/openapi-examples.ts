import { randomBytes } from 'node:crypto'
import { EXAMPLE_DEVICE_ID } from './fields.ts'

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

/** Says examples of schemas where a page fills in parameters and bodies with them, too. */
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

/** The namespace that examples make and use. */
export const EXAMPLE_SLUG = 'my-team'

/**
 * The document, as JSON, with examples that work as they are, for one reader: a device of their own, and a namespace that nobody
 * has taken. The document itself stays the same for everybody.
 */
export const withOwnExamples = (document: string): string => {
  const [deviceId, slug] = [randomBytes(16).toString('hex'), `${EXAMPLE_SLUG}-${randomBytes(3).toString('hex')}`]
  return document
    .replaceAll(JSON.stringify(EXAMPLE_DEVICE_ID), JSON.stringify(deviceId))
    .replaceAll(JSON.stringify(EXAMPLE_SLUG), JSON.stringify(slug))
}
