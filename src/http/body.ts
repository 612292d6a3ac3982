import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { parseExact } from '../json/exact.ts'
import { HttpError, invalid } from './errors.ts'

const LIMIT = 1024 * 1024
export const BATCH_LIMIT = 16 * 1024 * 1024

const decoder = new TextDecoder('utf-8', { fatal: true })

const parse = (body: Buffer): unknown => {
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

/** Bodies are JSON that loses nothing (architecture: Bodies are text); any other content type is a 400. */
export const installBodies = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: LIMIT }, (request, body, done) => {
    // A DELETE with a content type and no body is no mistake.
    if (body.length === 0) return done(null, undefined)
    try {
      done(null, parse(body as Buffer))
    } catch (error) {
      done(error as Error)
    }
  })
  app.addContentTypeParser('*', (request: FastifyRequest, payload, done) => {
    payload.resume()
    payload.on('end', () =>
      done(needsBody(request) ? invalid(undefined, 'The body must be application/json') : null, undefined),
    )
    payload.on('error', (error: Error) => done(error))
  })
}

const needsBody = (request: FastifyRequest) => request.routeOptions.schema?.body !== undefined

const MAX_ISSUES = 20

const flatten = (error: z.ZodError) => {
  const { formErrors, fieldErrors } = z.flattenError(new z.ZodError(error.issues.slice(0, MAX_ISSUES)))
  return { formErrors, fieldErrors }
}

/** Checks without replacing: what zod would drop or round comes through as it came. */
export const check = (schema: z.ZodType, value: unknown): unknown => {
  const result = schema.safeParse(value)
  if (result.success) return value
  throw new HttpError('invalid_request', 'Invalid request', flatten(result.error))
}

export const installValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema }) => (value) => {
    try {
      return { value: check(schema as z.ZodType, value) }
    } catch (error) {
      return { error: error as Error }
    }
  })
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
}
