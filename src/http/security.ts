import type { IncomingMessage, ServerResponse } from 'node:http'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import helmet, { type HelmetOptions } from 'helmet'
import { LOG_POSITION } from './log-position.ts'
import type { HttpConfig } from './settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route serves a page, which may load scripts, styles and images of this origin only. */
    htmlPage?: true
  }
}

type Headers = Readonly<Record<string, string>>
type Directives = Record<string, string[]>

/** Helmet's headers, which are the same for every request; computed once, because that is slow. */
const headersOf = (options: HelmetOptions): Headers => {
  const headers: Record<string, string> = {}
  const response = { setHeader: (name: string, value: string) => (headers[name.toLowerCase()] = value) }
  const noResponse = { ...response, removeHeader: () => {} } as unknown as ServerResponse
  helmet(options)({} as IncomingMessage, noResponse, () => {})
  return headers
}

const policy = (directives: Directives) => ({
  useDefaults: false,
  directives: { 'base-uri': ["'none'"], 'form-action': ["'none'"], 'frame-ancestors': ["'none'"], ...directives },
})

const htmlPageDirectives: Directives = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'", 'data:', 'https:'],
  'font-src': ["'self'"],
  'connect-src': ["'self'"],
  'form-action': ["'self'"],
  'manifest-src': ["'self'"],
}

const isHttps = ({ PUBLIC_URL }: HttpConfig) => PUBLIC_URL?.startsWith('https:') === true

/** The headers of API answers, of pages, and of the reference at `/docs`, whose widgets set inline styles. */
const headersFor = (config: HttpConfig) => {
  const strictTransportSecurity = isHttps(config) && { maxAge: 31_536_000, includeSubDomains: false }
  const make = (contentSecurityPolicy: ReturnType<typeof policy>, isHtmlPage: boolean) =>
    headersOf({
      contentSecurityPolicy,
      strictTransportSecurity,
      // CORS decides which pages may read answers; pictures may be shown on any page.
      crossOriginResourcePolicy: isHtmlPage ? { policy: 'same-origin' } : { policy: 'cross-origin' },
      crossOriginOpenerPolicy: isHtmlPage,
      originAgentCluster: isHtmlPage,
      xXssProtection: false,
      xDnsPrefetchControl: isHtmlPage,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      // API answers have no headers that matter for pages only.
      referrerPolicy: isHtmlPage && { policy: 'no-referrer' },
      xFrameOptions: isHtmlPage && { action: 'deny' },
    })
  return {
    answer: make(policy({ 'default-src': ["'none'"] }), false),
    htmlPage: make(policy(htmlPageDirectives), true),
    docs: make(policy({ ...htmlPageDirectives, 'style-src': ["'self'", "'unsafe-inline'"] }), true),
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const open: FastifyCorsOptions = {
  origin: '*',
  methods: METHODS,
  allowedHeaders: ['authorization', 'content-type', 'if-none-match', 'x-csrf-token', 'x-request-id'],
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
  ...headersFor(config).answer,
  'access-control-allow-origin': '*',
})

/** Adds security headers and CORS to every answer, also to errors and unknown routes. */
export const installSecurity = async (app: FastifyInstance, config: HttpConfig): Promise<void> => {
  const { answer, htmlPage, docs } = headersFor(config)
  app.addHook('onRequest', (request, reply, done) => {
    const { url, config } = request.routeOptions
    reply.headers(config.htmlPage ? htmlPage : url?.startsWith('/docs') ? docs : answer)
    done()
  })
  await installCors(app, config)
}
