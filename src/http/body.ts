import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { countValues } from '../json/count-values.ts'
import { parseExact } from '../json/exact.ts'
import { HttpError, invalid } from './errors.ts'
import { type Arrived, type Intake, newIntake } from './intake.ts'

declare module 'fastify' {
  interface FastifyRequest {
    arrived: Arrived | undefined
  }
}

/** A body that takes milliseconds to parse. */
const LONG = 256 * 1024
export const BATCH_LIMIT = 16 * 1024 * 1024

/** What parsing, checking and writing out cost goes by the values of a body, not by its bytes. */
const MOST_VALUES = 200_000

const decoder = new TextDecoder('utf-8', { fatal: true })

const parse = (body: Buffer): unknown => {
  if (countValues(body, MOST_VALUES) > MOST_VALUES)
    throw invalid(undefined, `The body must not hold more than ${MOST_VALUES} JSON values`)
  try {
    return parseExact(decoder.decode(body))
  } catch (error) {
    throw invalid(
      undefined,
      error instanceof SyntaxError || error instanceof RangeError
        ? 'The body is not JSON'
        : String((error as Error).message),
    )
  }
}

/** Gives the turn to others between two steps that each take their time with a large body. */
const breathe = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Bodies are JSON that loses nothing (architecture: Bodies are text); any other content type is a 400. */
export const installBodies = (app: FastifyInstance, intake: Intake = newIntake()): void => {
  app.decorateRequest('arrived', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: limit } = request.routeOptions
    request.arrived = await intake.read(payload, { limit, sessionId: request.caller?.sessionId })
    const { bytes } = request.arrived
    // A DELETE with a content type and no body is no mistake.
    if (bytes.length === 0) return undefined
    const value = parse(bytes)
    if (bytes.length > LONG) await breathe()
    return value
  })
  app.addHook('onSend', async (request) => request.arrived?.done())
  app.addContentTypeParser('*', (request: FastifyRequest, payload, done) => {
    if (payload.destroyed) return done(invalid(undefined, 'The body broke off'), undefined)
    payload.resume()
    payload.on('end', () =>
      done(needsBody(request) ? invalid(undefined, 'The body must be application/json') : null, undefined),
    )
    payload.on('error', (error: Error) => done(error))
  })
}

const needsBody = (request: FastifyRequest) => request.routeOptions.schema?.body !== undefined

const MAX_ISSUES = 20

const flatten = (issues: z.core.$ZodIssue[]) => {
  const { formErrors, fieldErrors } = z.flattenError(new z.ZodError(issues.slice(0, MAX_ISSUES)))
  return { formErrors, fieldErrors }
}

const refuse = (issues: z.core.$ZodIssue[]): never => {
  throw new HttpError('invalid_request', 'Invalid request', flatten(issues))
}

/** Checks without replacing: what zod would drop or round comes through as it came. */
export const check = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  return result.success ? value : refuse(result.error.issues)
}

/** The same for the items of a long list: no further than what an answer tells. */
export const checkEach = (field: string, schema: z.ZodType, items: readonly unknown[]): void => {
  const issues: z.core.$ZodIssue[] = []
  for (let i = 0; i < items.length && issues.length < MAX_ISSUES; i++)
    for (const issue of schema.safeParse(items[i]).error?.issues ?? [])
      issues.push({ ...issue, path: [field, i, ...issue.path] })
  if (issues.length > 0) refuse(issues)
}

type Check = (value: unknown) => unknown

const validator = (check: Check) => (value: unknown) => {
  try {
    return { value: check(value) }
  } catch (error) {
    return { error: error as Error }
  }
}

/** For routes whose bodies are checked otherwise than by their schema alone. */
export const bodiesBy =
  (checkBody: Check): FastifySchemaCompiler<unknown> =>
  ({ schema, httpPart }) =>
    validator(httpPart === 'body' ? checkBody : (value) => check(schema as z.ZodType, value))

export const installValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema }) => validator((value) => check(schema as z.ZodType, value)))
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
}
