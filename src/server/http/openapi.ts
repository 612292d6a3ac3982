import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { type Api, tags } from '../../contract/route.ts'
import { cookieNameOf } from './auth.ts'
import { JSON_TYPE } from './reply.ts'
import { documentOf } from './openapi-document.ts'
import { version } from '../../base/version.ts'
import type { HttpConfig } from './settings.ts'
import { randomBytes } from 'node:crypto'
import { EXAMPLE_DEVICE_ID, EXAMPLE_SLUG } from '../../contract/fields.ts'

const description = `Stores the recorded sessions of AI coding agents.

Get a token with \`POST /v1/session\` and send it as \`Authorization: Bearer <token>\`. Times are milliseconds since 1970.
A success is 200 with \`{"ok": true, "data": …}\`, an error \`{"ok": false, "error": {"code", "message", "details"?}}\`.
Every answer has the header \`x-request-id\`. A body may have 1 MiB, that of a batch of messages 16 MiB.
The answer to a write also has \`x-log-position\`. Keep it: \`GET /v1/session?holds=\` says whether the service still has that write.
Writes may be repeated: repeating one changes nothing, unless its description says otherwise.
An \`externalId\` is an id that the client chooses; the service makes all other ids. Lists continue with \`cursor\`.
A session may make 60,000 writes and 120,000 reads a minute, an address without a session 3,000 reads (defaults, which the operator may
change). Beyond that, the answer is 429, \`rate_limited\`.
Answers may get new optional fields: ignore fields that you do not know.`

const WORDMARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 32" height="32"><text y="23" font-size="24" \
font-family="system-ui, sans-serif" font-weight="600" fill="#fff">Tracebook</text></svg>`
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1b1f"/><path \
d="M3 5h10M3 8h7M3 11h9" stroke="#fff" stroke-width="1.6"/></svg>`

/** The whole document of an API for a service with these settings. */
export const wholeDocument = (api: Api, config: HttpConfig) => {
  const { paths, components } = documentOf(api)
  return {
    openapi: '3.1.0',
    info: { title: 'Tracebook', version, description, license: { name: 'MIT', identifier: 'MIT' } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: cookieNameOf(config),
          description:
            'Requests that change something also need the header `x-csrf-token`, with the `csrfToken` of `GET /v1/session`.',
        },
      },
      ...components,
    },
    paths,
    servers: [{ url: config.PUBLIC_URL ?? '/' }],
    tags,
  }
}

/**
 * The JSON text of the document with examples that a reader of `/docs` can send unchanged: a random `deviceId`, and a slug that is
 * not taken. The document at `/openapi.json` is the same for everybody.
 */
const withOwnExamples = (document: string): string => {
  const [deviceId, slug] = [randomBytes(16).toString('hex'), `${EXAMPLE_SLUG}-${randomBytes(3).toString('hex')}`]
  return document
    .replaceAll(JSON.stringify(EXAMPLE_DEVICE_ID), JSON.stringify(deviceId))
    .replaceAll(JSON.stringify(EXAMPLE_SLUG), JSON.stringify(slug))
}

/** Serves the OpenAPI 3.1 document of an API at `/openapi.json`, and a reference at `/docs`. */
export const installOpenApi = async (app: FastifyInstance, api: Api, config: HttpConfig): Promise<void> => {
  let cached: string | undefined
  /** Made once, on the first request, because making it is slow. */
  const text = () => (cached ??= JSON.stringify(wholeDocument(api, config)))
  // The plugin of the reference needs one that has a document; its page loads the real one from `/docs/json`.
  await app.register(swagger, { mode: 'static', specification: { document: { openapi: '3.1.0' } as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // `null` removes the badge of a validator, which the page would load from another site.
    logo: { type: 'image/svg+xml', content: WORDMARK, href: '/', target: '_self' },
    theme: {
      title: 'Tracebook: reference of the API',
      favicon: [{ filename: 'icon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: ICON }],
    },
    uiConfig: { persistAuthorization: false, tryItOutEnabled: true, validatorUrl: null },
    uiHooks: {
      preHandler: (request, reply, done) => {
        if (request.routeOptions.url !== '/docs/json') return done()
        void reply.header('cache-control', 'no-store').type(JSON_TYPE).send(withOwnExamples(text()))
      },
    },
  })
  app.get('/openapi.json', { config: { auth: 'none' } }, (_request, reply) => reply.type(JSON_TYPE).send(text()))
}
