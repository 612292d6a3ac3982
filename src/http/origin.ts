import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from './loopback.ts'
import type { HttpConfig } from './settings.ts'

/** The origin of the service: that of `PUBLIC_URL`, else of the address that it listens on. */
export const originOf = (app: FastifyInstance, { PUBLIC_URL, HOST, PORT }: HttpConfig): string => {
  if (PUBLIC_URL) return new URL(PUBLIC_URL).origin
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return new URL(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`).origin
}

/** The origin that a request was sent to, by its `Host`; undefined for a header that is none. */
export const targetOrigin = ({ protocol, headers }: FastifyRequest): string | undefined =>
  URL.parse(`${protocol}://${headers.host}`)?.origin

/**
 * Whether an origin is that of the service's own pages. The service is reached by several names, such as `localhost` and
 * `127.0.0.1`, and its own pages are those of the name that the request was sent to. With a `PUBLIC_URL` only loopback names
 * count so: a page of the public name over plain HTTP may be an attacker's.
 */
const isOwnOrigin = (app: FastifyInstance, config: HttpConfig, request: FastifyRequest, origin: string): boolean =>
  origin === originOf(app, config) ||
  (origin === targetOrigin(request) && (config.PUBLIC_URL === undefined || isLoopback(new URL(origin).hostname)))

/** Whether a request comes from a page of the service or of `CORS_ORIGINS`, by its `Origin`. */
export const newTrustedOriginCheck = (
  app: FastifyInstance,
  config: HttpConfig,
): ((request: FastifyRequest) => boolean) => {
  const trusted = new Set(config.CORS_ORIGINS)
  return (request) => {
    const { origin } = request.headers
    if (origin === undefined) return false
    return trusted.has(origin) || isOwnOrigin(app, config, request, origin)
  }
}

/**
 * Whether a browser says that a request comes from a page of the service itself, with `Origin`, `Sec-Fetch-Site` or both. Every
 * browser sends one of them with a form; a request with neither is none.
 */
export const isFromOwnPage = (app: FastifyInstance, config: HttpConfig, request: FastifyRequest): boolean => {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin === undefined) return site === 'same-origin'
  return (site === undefined || site === 'same-origin') && isOwnOrigin(app, config, request, origin)
}
