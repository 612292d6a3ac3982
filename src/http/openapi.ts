import { readFileSync } from 'node:fs'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { Service } from '../service.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

const description =
  'Stores the recorded sessions of AI coding agents. Get a token with `POST /v1/session` and send it as `Authorization: Bearer <token>`.'

/** The contract as OpenAPI 3.1 at `/openapi.json`, made from the schemas beside the handlers, and a reference at `/docs`. */
export const installOpenApi = async (app: FastifyInstance, { config }: Service): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Tracebook', version, description },
      ...(config.PUBLIC_URL ? { servers: [{ url: config.PUBLIC_URL }] } : {}),
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          cookie: { type: 'apiKey', in: 'cookie', name: 'tracebook' },
        },
      },
      security: [{ bearer: [] }, { cookie: [] }, {}],
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { persistAuthorization: false, tryItOutEnabled: true },
  })
  app.get('/openapi.json', { config: { auth: 'none' }, schema: { hide: true } }, async () => app.swagger())
}
