import type { FastifyInstance, FastifyRequest } from 'fastify'
import { pageHeaders, referenceHeaders } from '../pages/headers.ts'
import { LOG_POSITION } from './log-position.ts'
import { isHttps } from './address.ts'
import type { HttpConfig } from './settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route answers browsers with a page, so that all its answers have the headers of pages. */
    htmlPage?: true
  }
}

type Headers = Readonly<Record<string, string>>

/** The headers of answers of the API. Pages of other origins may show pictures; CORS decides whether they may read answers. */
const answerHeaders: Headers = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

const overHttps: Headers = { 'strict-transport-security': 'max-age=31536000' }

/**
 * The headers that depend on how the client reaches the service: over https by what a trusted proxy says of the request; if none says anything, by
 * `PUBLIC_URL`.
 */
const transportHeaders = ({ PUBLIC_URL, TRUST_PROXY }: HttpConfig, request?: FastifyRequest): Headers => {
  const isSaid = TRUST_PROXY !== false && request?.headers['x-forwarded-proto'] !== undefined
  return (isSaid ? isHttps(request) : PUBLIC_URL?.startsWith('https:') === true) ? overHttps : {}
}

/** The headers of requests of the Model Context Protocol. */
const MCP_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Pages of any origin may read answers to calls with a bearer token. */
const openToAll: Headers = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': ['etag', 'x-request-id', 'retry-after', LOG_POSITION].join(', '),
}

/** What pages of other origins may ask for. */
const preflight: Headers = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': [
    ...['authorization', 'content-type', 'if-none-match', 'x-csrf-token', 'x-request-id'],
    ...MCP_HEADERS,
  ].join(', '),
  'access-control-max-age': '86400',
  'content-length': '0',
}

/** The headers of an answer that is sent before any hook has run, or without one. */
export const unhookedHeaders = (config: HttpConfig, request?: FastifyRequest): Headers => ({
  ...answerHeaders,
  ...transportHeaders(config, request),
  'access-control-allow-origin': '*',
})

/**
 * Adds security headers and CORS to every answer, also to errors and unknown routes, and answers `OPTIONS` of any path. Pages of any origin may
 * call with a bearer token, with the cookie only those of `CORS_ORIGINS`.
 */
export const installSecurity = (app: FastifyInstance, settings: HttpConfig): void => {
  const answer = { ...answerHeaders, ...openToAll }
  const page = { ...answer, ...pageHeaders }
  const reference = { ...answer, ...referenceHeaders }
  const trusted = new Set(settings.CORS_ORIGINS)

  app.addHook('onRequest', (request, reply, done) => {
    const { url, config } = request.routeOptions
    reply.headers(config.htmlPage ? page : url?.startsWith('/docs') ? reference : answer)
    reply.headers(transportHeaders(settings, request))
    if (trusted.size > 0) {
      const { origin } = request.headers
      reply.header('vary', 'Origin')
      if (origin !== undefined && trusted.has(origin))
        reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' })
    }
    if (request.method !== 'OPTIONS') return done()
    reply.code(204).headers(preflight).send()
  })
  app.options('*', { config: { auth: 'none' } }, async () => {}) // the hook answers
}
