import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import { moduleUrl } from '../../base/threads.ts'
import type { Route } from '../../contract/route.ts'
import type { BodyThreads } from './parse-bodies.ts'
import { check, read } from './check.ts'
import { invalid } from './http-error.ts'
import { type Arrived, BROKEN_OFF, newIntake } from './intake.ts'
import { type BodyReader, knownMembers, longMembers } from './json-body.ts'
import { type NodePermits, clientOf } from './node-permits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    arrived: Arrived | undefined
  }
  interface FastifyContextConfig {
    /** Parses the body for the route. Default: reads the members that its schema names. */
    readBody?: BodyReader<unknown>
  }
}

export const BATCH_LIMIT = 16 * 1024 * 1024

const module = moduleUrl('./json-body', import.meta.url)

/** Reads the members that a schema names. @throws Error if the schema is not one of an object */
const membersOf = (schema: unknown, isLong = false): BodyReader<unknown> => {
  if (schema !== undefined && !(schema instanceof z.ZodObject)) throw new Error('a body must be a z.object')
  const names = schema ? Object.keys(schema.shape) : []
  if (isLong) return { read: longMembers, module, name: 'longMembers', names }
  return { read: knownMembers, module, name: 'knownMembers', names }
}

/** How a route reads a body that lists many values, such as lines. */
export const longBody = ({ body }: Route) => ({
  config: { readBody: membersOf(body?.is === 'json' ? body.schema : undefined, true) },
})

/** Reads JSON bodies without loss; any other content type is a 400. */
export const installBodies = (app: FastifyInstance, threads: BodyThreads, permits: NodePermits): void => {
  const intake = newIntake(permits)
  app.decorateRequest('arrived', undefined)
  app.addHook('onRoute', (route) => {
    route.config = { readBody: membersOf(route.schema?.body), ...route.config }
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const { bodyLimit: limit, config } = request.routeOptions
    request.arrived = await intake.read(payload, { limit, client: clientOf(request) })
    const { bytes } = request.arrived
    // A DELETE may have a content type and no body.
    if (bytes.length === 0) return undefined
    return threads.read(config.readBody ?? membersOf(undefined), bytes) // an unknown path has no `readBody`
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.arrived?.done()
    done(null, payload)
  })
  app.addContentTypeParser('*', (request: FastifyRequest, payload, done) => {
    if (payload.destroyed) return done(invalid(undefined, BROKEN_OFF), undefined)
    payload.resume()
    payload.on('end', () =>
      done(
        needsBody(request)
          ? invalid(undefined, 'The content type is not application/json: send the body as JSON')
          : null,
        undefined,
      ),
    )
    payload.on('error', (error: Error) => done(error))
  })
}

const needsBody = (request: FastifyRequest) => request.routeOptions.schema?.body !== undefined

const validator = (read: (value: unknown) => unknown) => (value: unknown) => {
  try {
    return { value: read(value) }
  } catch (error) {
    return { error: error as Error }
  }
}

/** A body is passed on as it was sent; the parameters of a path or a query are converted by their schemas. */
const validatorOf = (schema: z.ZodType, httpPart: string | undefined) =>
  validator((value) => (httpPart === 'body' ? check(schema, value) : read(schema, value)))

/** The validator of routes whose `readBody` has checked the body: it only checks that there is one. */
export const checkedByReadBody: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  const validate = validatorOf(schema as z.ZodType, httpPart)
  return httpPart === 'body' ? (value: unknown) => (value ? { value } : validate(value)) : validate
}

const validators: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => validatorOf(schema, httpPart)

/** Zod checks requests. Fastify gets these compilers from the start; otherwise it would load its own, a hundred modules. */
export const compilersFactory = {
  buildValidator: () => validators as never,
  buildSerializer: () => () => (data: unknown) => JSON.stringify(data),
}
