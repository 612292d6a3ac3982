import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { pageHeaders, referenceHeaders } from '../pages/headers.ts'
import { LOG_POSITION } from './log-position.ts'
import type { HttpConfig } from './settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers browsers with a page, so that all its answers have the headers of pages. */
    htmlPage?: true
  }
}

type Headers = Readonly<Record<string, string>>

/** The headers of answers of the API. Pages of other origins may show pictures; CORS decides whether they may read answers. */
const answerHeaders = ({ PUBLIC_URL }: HttpConfig): Headers => ({
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
  ...(PUBLIC_URL?.startsWith('https:') === true ? { 'strict-transport-security': 'max-age=31536000' } : {}),
})

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The headers of requests of the Model Context Protocol. */
const MCP_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

const open: FastifyCorsOptions = {
  origin: '*',
  methods: METHODS,
  allowedHeaders: ['authorization', 'content-type', 'if-none-match', 'x-csrf-token', 'x-request-id', ...MCP_HEADERS],
  exposedHeaders: ['etag', 'x-request-id', 'retry-after', LOG_POSITION],
  maxAge: 86_400,
  strictPreflight: false,
  optionsSuccessStatus: 204,
}

/** Pages of any origin may call with a bearer token, with the cookie only those of `CORS_ORIGINS`. */
const installCors = async (app: FastifyInstance, { CORS_ORIGINS: origins }: HttpConfig): Promise<void> => {
  if (origins.length === 0) return void (await app.register(cors, open))
  const trusted = new Set(origins)
  await app.register(cors, {
    delegator: ({ headers: { origin } }, done) =>
      done(null, origin !== undefined && trusted.has(origin) ? { ...open, origin, credentials: true } : open),
  })
}

/** The headers of an answer that is sent before any hook has run. */
export const unhookedHeaders = (config: HttpConfig): Headers => ({
  ...answerHeaders(config),
  'access-control-allow-origin': '*',
})

/** Adds security headers and CORS to every answer, also to errors and unknown routes. */
export const installSecurity = async (app: FastifyInstance, config: HttpConfig): Promise<void> => {
  const answer = answerHeaders(config)
  const page = { ...answer, ...pageHeaders }
  const reference = { ...answer, ...referenceHeaders }
  app.addHook('onRequest', (request, reply, done) => {
    const { url, config } = request.routeOptions
    reply.headers(config.htmlPage ? page : url?.startsWith('/docs') ? reference : answer)
    done()
  })
  await installCors(app, config)
}
