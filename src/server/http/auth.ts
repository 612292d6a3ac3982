import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import { isSameSecret } from '../../base/same-secret.ts'
import { type AttemptOptions, newAttempt } from './attempt.ts'
import type { Caller } from './caller.ts'
import { HttpError, unauthorized } from './http-error.ts'
import { isHttps, isLoopback } from './address.ts'
import { adviceForPage, isFromOwnPage } from './origin.ts'
import { wantsPage } from '../pages/page.ts'
import { addVary } from './reply.ts'
import type { HttpConfig } from './settings.ts'
import { createHmac } from 'node:crypto'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the caller was looked up, in milliseconds since the start of the process. */
    authenticatedAt: number
    /** Whether the request has a token that is not valid. */
    hasBadToken: boolean
  }
  interface FastifyContextConfig {
    /**
     * `required`: 401 without a valid token, before the body is read; `optional`: `caller` may be undefined; `none`: no
     * look-up.
     */
    auth?: 'required' | 'optional' | 'none'
    /**
     * The route takes forms of the service's own pages. Instead of the header `x-csrf-token`, which a form cannot have, the browser has to say that
     * the request comes from such a page.
     */
    ownPagesOnly?: true
  }
}

/** Refuses to register a route without `config.auth`, so that no route is public by mistake. @throws Error */
export const assertStatesAuth = ({ method, url, config }: RouteOptions): void => {
  if (config?.auth === undefined) throw new Error(`${String(method)} ${url} does not say who may call it: config.auth`)
}

/**
 * The name of the session cookie. Browsers accept `__Host-` cookies over https only, so http on loopback has another one. A request that came to a
 * trusted proxy over https has the first one in any case.
 */
export const cookieNameOf = (
  { PUBLIC_URL, HOST }: Pick<HttpConfig, 'PUBLIC_URL' | 'HOST'>,
  request?: Pick<FastifyRequest, 'protocol'>,
): string => {
  const { protocol, hostname } = PUBLIC_URL ? new URL(PUBLIC_URL) : { protocol: 'http:', hostname: HOST }
  const isPlain = protocol === 'http:' && isLoopback(hostname) && !(request && isHttps(request))
  return isPlain ? 'tracebook' : '__Host-tracebook'
}

/** The token of a request, which need not be valid. */
type Presented = { readonly token: string; readonly via: Caller['via'] }

/** The value of the first cookie with this name. */
export const cookieOf = (header: string, name: string): string | undefined => {
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=')
    if (equals > 0 && pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** The token of a request: a bearer header wins over a cookie, even if its token is not valid. */
export const presentedToken = (
  { headers }: Pick<FastifyRequest, 'headers'>,
  cookieName: string,
): Presented | undefined => {
  const authorization = headers.authorization?.trim()
  if (authorization && /^bearer(?: |$)/i.test(authorization))
    return { token: authorization.slice('bearer'.length).trimStart(), via: 'bearer' }
  const token = headers.cookie && cookieOf(headers.cookie, cookieName)
  return token ? { token, via: 'cookie' } : undefined
}

/** The CSRF token that belongs to a session's token. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

export const isCsrfToken = (given: unknown, token: string): boolean =>
  typeof given === 'string' && isSameSecret(given, csrfTokenOf(token))

/** The CSRF token that writes with the cookie of this request need; undefined if it has no cookie. */
export const csrfTokenFor = (request: FastifyRequest, cookieName: string): string | undefined => {
  const presented = presentedToken(request, cookieName)
  return presented?.via === 'cookie' ? csrfTokenOf(presented.token) : undefined
}

/** After this time the caller is looked up again. A revocation takes as long to reach other nodes. */
const REAUTHENTICATE_MS = 1_000

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

const assertCsrf = ({ method, headers }: FastifyRequest, { token, via }: Presented) => {
  if (via === 'bearer' || SAFE.has(method) || isCsrfToken(headers['x-csrf-token'], token)) return
  throw new HttpError(
    'csrf_failed',
    'The header x-csrf-token is missing or wrong: send the csrfToken of GET /v1/session',
  )
}

/** The streams that a caller's rights are derived from. While one of them is in quarantine, the rights are not known. */
export const streamsOfCaller = ({ sessionId, userId, identityId, namespace }: Caller): string[] => [
  `session-${sessionId}`,
  `user-${userId}`,
  `identity-${identityId}`,
  ...(namespace ? [`namespace-${namespace.id}`] : []),
]

/** Whether a request may, or has to, come from a caller. The page for an unknown address shows who is signed in. */
const authOf = (request: FastifyRequest, { config }: FastifyRequest['routeOptions']) =>
  config.auth ?? (request.is404 && wantsPage(request) ? 'optional' : 'none')

type AuthOptions = AttemptOptions & {
  readonly config: HttpConfig
  /** Records that a session was used. */
  readonly lastUsed: { record(sessionId: string): void }
  /** @throws InQuarantine if one of these streams is in quarantine */
  readonly reads: { assertNotQuarantined(...streams: string[]): void }
}

/**
 * Authenticates before the body is read. An invalid token counts as no token; a write with the cookie needs its CSRF token,
 * too. Answers to a caller are marked as private, so that no cache on the way serves them to others.
 */
export const installAuth = (app: FastifyInstance, options: AuthOptions): void => {
  const { lastUsed, config, reads } = options
  const usualName = cookieNameOf(config)
  const nameFor = (request: FastifyRequest) => (isHttps(request) ? cookieNameOf(config, request) : usualName)
  app.decorateRequest('caller', undefined)
  app.decorateRequest('authenticatedAt', 0)
  app.decorateRequest('hasBadToken', false)

  const authenticate = async (request: FastifyRequest): Promise<void> => {
    const { routeOptions } = request
    const auth = authOf(request, routeOptions)
    request.authenticatedAt = performance.now()
    if (auth === 'none') return
    const presented = presentedToken(request, nameFor(request))
    const attempt = newAttempt(options, request.ip)
    const caller = presented && (await attempt.callerOf(presented.token))
    request.hasBadToken = presented !== undefined && !caller
    if (!caller) {
      if (presented || auth === 'required') attempt.fail()
      if (auth === 'required') throw unauthorized()
      return
    }
    reads.assertNotQuarantined(...streamsOfCaller(caller))
    if (!routeOptions.config.ownPagesOnly) assertCsrf(request, presented)
    request.caller = presented.via === 'cookie' ? { ...caller, via: 'cookie' } : caller
    lastUsed.record(caller.sessionId)
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { routeOptions } = request
    if (routeOptions.config.ownPagesOnly && !isFromOwnPage(app, config, request))
      return done(
        new HttpError(
          'forbidden',
          `This form does not come from a page of this service: ${adviceForPage(config, request) ?? 'open the page again'}`,
        ),
      )
    const auth = authOf(request, routeOptions)
    if (auth === 'none') return done()
    addVary(reply, 'authorization, cookie')
    if (auth === 'optional' && !presentedToken(request, nameFor(request))) {
      request.authenticatedAt = performance.now()
      return done()
    }
    authenticate(request).then(() => {
      if (request.caller) reply.header('cache-control', 'private')
      done()
    }, done)
  })
  // The caller may lose rights while a body arrives slowly.
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.caller || performance.now() - request.authenticatedAt < REAUTHENTICATE_MS) return done()
    request.caller = undefined
    authenticate(request).then(() => done(), done)
  })
}
