import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { tags } from '../contract/tags.ts'
import type { Api } from '../contract/route.ts'
import { cookieNameOf } from './auth.ts'
import { JSON_TYPE } from './reply.ts'
import { documentOf } from './openapi-document.ts'
import { withOwnExamples } from './openapi-examples.ts'
import { version } from '../base/version.ts'
import type { HttpConfig } from './settings.ts'

const description = `Stores the recorded sessions of AI coding agents.

Get a token with \`POST /v1/session\` and send it as \`Authorization: Bearer <token>\`. Times are milliseconds since 1970.
Success is 200 with \`{"ok": true, "data": …}\`, failure \`{"ok": false, "error": {"code", "message", "details"?}}\`.
Every answer carries \`x-request-id\`; a body has at most 1 MiB, that of a batch 16 MiB.
An answer to a write also carries \`x-log-position\`: keep it, and \`GET /v1/session?holds=\` tells whether the service still has that write.
Writes can be repeated: one that was stored already changes nothing, where its description does not say otherwise.
An \`externalId\` is an id that the client has chosen; all other ids are the service's. Lists go on with \`cursor\`.
A session may make 60,000 writes and 120,000 reads a minute, an address without one 3,000 reads (defaults of the
operator's settings): beyond that every call answers 429, \`rate_limited\`.
Answers may get new optional fields: leave what you do not know alone.`

const WORDMARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 150 32" height="32"><text y="23" font-size="24" \
font-family="system-ui, sans-serif" font-weight="600" fill="#fff">Tracebook</text></svg>`
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1b1f"/><path \
d="M3 5h10M3 8h7M3 11h9" stroke="#fff" stroke-width="1.6"/></svg>`

/** The whole document of an API, as a service with these settings serves it. */
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
          description: 'What changes something needs the header `x-csrf-token` besides, as `GET /v1/session` gives it.',
        },
      },
      ...components,
    },
    paths,
    servers: [{ url: config.PUBLIC_URL ?? '/' }],
    tags,
  }
}

/** Serves the OpenAPI 3.1 document of an API at `/openapi.json`, and a reference at `/docs`. */
export const installOpenApi = async (app: FastifyInstance, api: Api, config: HttpConfig): Promise<void> => {
  let cached: string | undefined
  /** Made once, and when it is asked for, because that is slow. */
  const text = () => (cached ??= JSON.stringify(wholeDocument(api, config)))
  // The reference wants a plugin that has the document; its page asks for `/docs/json`.
  await app.register(swagger, { mode: 'static', specification: { document: { openapi: '3.1.0' } as never } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    // `null` removes the badge of a validator, which the page would request from another site.
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
