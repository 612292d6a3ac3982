import type { FastifyInstance } from 'fastify'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export type Schema = Readonly<Record<string, unknown>>
type Content = { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }
type Parameter = { readonly name: string; readonly in: 'path' | 'query' | 'header'; readonly schema: Schema }

export type Operation = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | undefined
  /** The problem of a JSON answer, in words; undefined if it is as the document says. */
  readonly problemOf: (status: number, body: unknown) => string | undefined
  /** Whether the document says anything about an answer with this status. */
  readonly knows: (status: number) => boolean
}

type Described = {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}
export type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const escaped = (segment: string) => segment.replaceAll('~', '~0').replaceAll('/', '~1')
const JSON_TYPE = 'application/json'

/** The operations of `/openapi.json`, with validators of their answers. */
export const readDocument = async (app: FastifyInstance) => {
  const document = (await app.inject('/openapi.json')).json() as Document
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true })
  formats.default(ajv)
  ajv.addSchema(document, 'openapi')

  const toOperation = (path: string, method: string, described: Described): Operation => {
    const { parameters = [], requestBody, responses } = described
    const place = `openapi#/paths/${escaped(path)}/${method}/responses`
    const keyOf = (status: number) => [String(status), 'default'].find((key) => key in responses)
    const problemOf = (status: number, body: unknown) => {
      const key = keyOf(status)
      if (key === undefined) return `${status} is not described`
      if (!responses[key]!.content?.[JSON_TYPE]?.schema) return undefined
      const validate = ajv.getSchema(encodeURI(`${place}/${key}/content/${escaped(JSON_TYPE)}/schema`))
      if (!validate) return `${status} has no schema`
      return validate(body) ? undefined : ajv.errorsText(validate.errors)
    }
    return {
      method: method.toUpperCase() as Operation['method'],
      path,
      parameters,
      body: requestBody?.content?.[JSON_TYPE]?.schema,
      problemOf,
      knows: (status) => keyOf(status) !== undefined,
    }
  }
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => toOperation(path, method, described)),
  )
  return { document, operations }
}
