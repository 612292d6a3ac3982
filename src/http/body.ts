import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { type BodyBytes, wholeOf } from './body-bytes.ts'
import type { BodyThreads, Task } from './body-thread.ts'
import { check } from './check.ts'
import { invalid } from './http-error.ts'
import { type Arrived, type Intake, newIntake } from './intake.ts'
import { parseBody } from './json-body.ts'

/** Makes of a body what the route works with, checked; the bytes are its own. @throws HttpError invalid_request */
export type BodyReader = (bytes: BodyBytes) => unknown

declare module 'fastify' {
  interface FastifyRequest {
    arrived: Arrived | undefined
  }
  interface FastifyContextConfig {
    /** Default: its JSON value, of a large one the members that the route's schema names. */
    readBody?: BodyReader
  }
}

export const BATCH_LIMIT = 16 * 1024 * 1024

const known: Task = { module: new URL('./body-tasks.ts', import.meta.url), name: 'known' }

const namesOf = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : [])

const readValue = (threads: BodyThreads, schema: unknown, bytes: BodyBytes) =>
  threads.isLarge(bytes) ? threads.read(known, bytes, { names: namesOf(schema) }) : parseBody(wholeOf(bytes))

/** Bodies are JSON that loses nothing; any other content type is a 400. */
export const installBodies = (app: FastifyInstance, threads: BodyThreads, intake: Intake = newIntake()): void => {
  app.decorateRequest('arrived', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: limit, config, schema } = request.routeOptions
    request.arrived = await intake.read(payload, { limit, sessionId: request.caller?.sessionId })
    const { bytes } = request.arrived
    // A DELETE with a content type and no body is no mistake.
    if (bytes.length === 0) return undefined
    return config.readBody ? config.readBody(bytes) : readValue(threads, schema?.body, bytes)
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

const validator = (schema: z.ZodType) => (value: unknown) => {
  try {
    return { value: check(schema, value) }
  } catch (error) {
    return { error: error as Error }
  }
}

/** For routes whose bodies a reader has checked; only that there is one is left to be checked. */
export const readBodies: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const validate = validator(schema as z.ZodType)
  return httpPart === 'body' ? (value: unknown) => (value ? { value } : validate(value)) : validate
}

export const installValidation = (app: FastifyInstance): void => {
  app.setValidatorCompiler(({ schema }) => validator(schema as z.ZodType))
  app.setSerializerCompiler(() => (data) => JSON.stringify(data))
}
