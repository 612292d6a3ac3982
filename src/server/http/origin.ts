import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from './address.ts'
import type { HttpConfig } from './settings.ts'
import { HttpError } from './http-error.ts'
import { type NetworkSettings, isReachedByOthers, listensOnLoopback } from './host.ts'

/** The origin of the service: that of `PUBLIC_URL`, else of the address that it listens on. */
export const originOf = (app: FastifyInstance, { PUBLIC_URL, HOST, PORT }: HttpConfig): string => {
  if (PUBLIC_URL) return new URL(PUBLIC_URL).origin
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return new URL(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`).origin
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * The address of the service in commands that are printed: `PUBLIC_URL`, else the one that it listens on if only this machine reaches it; undefined if
     * there is neither. Never of a request's `Host`, which others may choose.
     */
    printedAddress(): string | undefined
  }
}

/** The same for a service that listens at `listening`. */
export const printedAddressOf = (config: NetworkSettings, listening: string): string | undefined => {
  if (config.PUBLIC_URL) return new URL(config.PUBLIC_URL).origin
  return isReachedByOthers(config) ? undefined : listening
}

export const installPrintedAddress = (app: FastifyInstance, config: HttpConfig): void => {
  app.decorate('printedAddress', () => printedAddressOf(config, originOf(app, config)))
}

/** The address of the service for a client: `PUBLIC_URL` without a slash at its end, else where the request was sent to. */
export const addressFor = (
  { PUBLIC_URL }: { readonly PUBLIC_URL?: string | undefined },
  { protocol, host }: Pick<FastifyRequest, 'protocol' | 'host'>,
): string => PUBLIC_URL?.replace(/\/$/, '') ?? `${protocol}://${host}`

/** The origin that a request was sent to, by its `Host`; undefined if the header is not valid. */
export const targetOrigin = ({ protocol, headers }: FastifyRequest): string | undefined =>
  URL.parse(`${protocol}://${headers.host}`)?.origin

/**
 * Whether an origin is that of the service's own pages. The service may be reached by several names, such as `localhost` and
 * `127.0.0.1`; its own pages are those of the name that the request was sent to. With a `PUBLIC_URL`, this holds for loopback names
 * only: a page of the public name over plain HTTP may be an attacker's.
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
 * Whether a browser says, by `Origin`, `Sec-Fetch-Site` or both, that a request comes from a page of the service itself. Every
 * browser sends one of them with a form, so a request with neither does not come from a page.
 */
export const isFromOwnPage = (app: FastifyInstance, config: HttpConfig, request: FastifyRequest): boolean => {
  const { origin, 'sec-fetch-site': site } = request.headers
  if (origin === undefined) return site === 'same-origin'
  return (site === undefined || site === 'same-origin') && isOwnOrigin(app, config, request, origin)
}

/** The last of several values, which the proxy next to the service has added. */
const lastOf = (header: string | string[] | undefined): string | undefined =>
  header?.toString().split(',').at(-1)!.trim()

/**
 * Whether a page seems to be one of the service itself, although its origin is not known to be: by what a browser or a proxy says. That decides
 * only which advice is given.
 */
const seemsOwn = ({ headers }: FastifyRequest, { host }: URL): boolean =>
  headers['sec-fetch-site'] === 'same-origin' || [headers.host, lastOf(headers['x-forwarded-host'])].includes(host)

/** What makes the service know a page as its own that seems to be; undefined for any other page. */
export const adviceForPage = ({ PUBLIC_URL }: HttpConfig, request: FastifyRequest): string | undefined => {
  const page = URL.parse(request.headers.origin ?? '')
  if (!page || !seemsOwn(request, page)) return undefined
  return PUBLIC_URL === undefined
    ? `set PUBLIC_URL to the address of the service, which seems to be ${page.origin}`
    : `open it at the address that PUBLIC_URL names, ${new URL(PUBLIC_URL).origin}, or correct PUBLIC_URL`
}

/** What allows pages of another origin to do without a token what only own pages may; undefined if nothing does, as for a sandboxed page. */
const adviceForOrigin = ({ headers: { origin = '' } }: FastifyRequest): string | undefined =>
  URL.parse(origin)?.origin === origin ? `log in, or add ${origin} to CORS_ORIGINS` : undefined

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * On a service that listens on loopback, refuses anonymous writes from pages of other origins, except `CORS_ORIGINS`: otherwise
 * any website could create users of a service that only its owner can reach. A request without `Origin` does not come from a page. The
 * redirect back from the code host is a GET, and checked by its state. Has to come after authentication. @throws HttpError forbidden
 */
export const installCrossOriginCheck = (app: FastifyInstance, config: HttpConfig): void => {
  if (!listensOnLoopback(config)) return
  const isTrusted = newTrustedOriginCheck(app, config)

  app.addHook('onRequest', (request, _reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || request.caller || SAFE.has(request.method) || isTrusted(request)) return done()
    const advice = adviceForPage(config, request) ?? adviceForOrigin(request) ?? 'log in'
    done(new HttpError('forbidden', `Pages of this origin may not do this without a token: ${advice}`))
  })
}
