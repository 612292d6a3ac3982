import type { IncomingMessage, ServerResponse } from 'node:http'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import helmet, { type HelmetOptions } from 'helmet'
import type { HttpConfig } from './settings.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Says that a route serves a page of ours: it may load scripts, styles and images of this origin, nothing else. */
    page?: true
  }
}

type Headers = Readonly<Record<string, string>>
type Directives = Record<string, string[]>

/** Helmet's headers as they are for every request: made once, as they would cost more than many an answer. */
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

const ours: Directives = {
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

/** The headers of answers, of our pages, and of the reference, whose widgets set styles of their own. */
const headersFor = (config: HttpConfig) => {
  const strictTransportSecurity = isHttps(config) && { maxAge: 31_536_000, includeSubDomains: false }
  const make = (contentSecurityPolicy: ReturnType<typeof policy>, isPage: boolean) =>
    headersOf({
      contentSecurityPolicy,
      strictTransportSecurity,
      // Answers are for whoever may read them by CORS, pictures for any page.
      crossOriginResourcePolicy: isPage ? { policy: 'same-origin' } : { policy: 'cross-origin' },
      crossOriginOpenerPolicy: isPage,
      originAgentCluster: isPage,
      xXssProtection: false,
      xDnsPrefetchControl: isPage,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      // Each header costs: answers have none that means nothing to what is no page.
      referrerPolicy: isPage && { policy: 'no-referrer' },
      xFrameOptions: isPage && { action: 'deny' },
    })
  return {
    answer: make(policy({ 'default-src': ["'none'"] }), false),
    page: make(policy(ours), true),
    docs: make(policy({ ...ours, 'style-src': ["'self'", "'unsafe-inline'"] }), true),
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const open: FastifyCorsOptions = {
  origin: '*',
  methods: METHODS,
  allowedHeaders: ['authorization', 'content-type', 'if-none-match', 'x-csrf-token', 'x-request-id'],
  exposedHeaders: ['etag', 'x-request-id', 'retry-after'],
  maxAge: 86_400,
  strictPreflight: false,
  optionsSuccessStatus: 204,
}

/** Any page may call with a bearer token; with our cookie only those of `CORS_ORIGINS`. */
const installCors = async (app: FastifyInstance, { CORS_ORIGINS: origins }: HttpConfig): Promise<void> => {
  if (origins.length === 0) return void (await app.register(cors, open))
  const trusted = new Set(origins)
  await app.register(cors, {
    delegator: ({ headers: { origin } }, done) =>
      done(null, origin !== undefined && trusted.has(origin) ? { ...open, origin, credentials: true } : open),
  })
}

/** The headers of an answer that passes no hook. */
export const unhookedHeaders = (config: HttpConfig): Headers => ({
  ...headersFor(config).answer,
  'access-control-allow-origin': '*',
})

/** Security headers and CORS on every answer, errors and unknown routes among them. */
export const installSecurity = async (app: FastifyInstance, config: HttpConfig): Promise<void> => {
  const { answer, page, docs } = headersFor(config)
  app.addHook('onRequest', (request, reply, done) => {
    const { url, config } = request.routeOptions
    reply.headers(config.page ? page : url?.startsWith('/docs') ? docs : answer)
    done()
  })
  await installCors(app, config)
}
