import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type AttemptOptions, newAttempt } from './attempt.ts'
import { csrfTokenOf, isCsrfToken } from './csrf.ts'
import type { Caller } from './caller.ts'
import { HttpError, unauthorized } from './http-error.ts'
import { tooMany } from './limits.ts'
import { isLoopback } from './loopback.ts'
import { addVary } from './reply.ts'
import type { HttpConfig } from './settings.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When its caller was looked up, in milliseconds since the process began. */
    authenticatedAt: number
  }
  interface FastifyContextConfig {
    /** `required`: 401 without a valid token; `optional`: `caller` may be undefined; `none`: nobody looks. */
    auth?: 'required' | 'optional' | 'none'
  }
}

/** Makes the service refuse to start with a route that does not say who may call it: nothing is public by omission. */
export const assertStatesAuth = ({ method, url, config }: RouteOptions): void => {
  if (config?.auth === undefined) throw new Error(`${String(method)} ${url} does not say who may call it: config.auth`)
}

/** Browsers keep `__Host-` cookies for https only: plain-http loopback has another name. */
export const cookieNameOf = ({ PUBLIC_URL, HOST }: Pick<HttpConfig, 'PUBLIC_URL' | 'HOST'>): string => {
  const { protocol, hostname } = PUBLIC_URL ? new URL(PUBLIC_URL) : { protocol: 'http:', hostname: HOST }
  return protocol === 'http:' && isLoopback(hostname) ? 'tracebook' : '__Host-tracebook'
}

/** A token as a request presents it, valid or not. */
export type Presented = { readonly token: string; readonly via: Caller['via'] }

/** The value of the first cookie of a name. */
export const cookieOf = (header: string, name: string): string | undefined => {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return undefined
}

/** The token of a request: a bearer header wins over a cookie, also when it is not valid. */
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

/** What a page of our own origin sends along with its mutations, and nobody else can know. */
export const csrfTokenFor = (request: FastifyRequest, cookieName: string): string | undefined => {
  const presented = presentedToken(request, cookieName)
  return presented?.via === 'cookie' ? csrfTokenOf(presented.token) : undefined
}

/** How long what was asked of a caller holds: as long as a revocation may take to arrive on other nodes. */
const BRIEF_MS = 1_000

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

const assertCsrf = ({ method, headers }: FastifyRequest, { token, via }: Presented) => {
  if (via === 'bearer' || SAFE.has(method) || isCsrfToken(headers['x-csrf-token'], token)) return
  throw new HttpError('csrf_failed', 'The x-csrf-token header is missing or wrong')
}

/** What a caller's rights come from: where one of these may be wrong, nobody knows what they are. */
export const streamsOfCaller = ({ sessionId, userId, identityId, namespace }: Caller): string[] => [
  `session-${sessionId}`,
  `user-${userId}`,
  `identity-${identityId}`,
  ...(namespace ? [`namespace-${namespace.id}`] : []),
]

export type AuthOptions = AttemptOptions & {
  readonly config: HttpConfig
  /** Notes that a session was used. */
  readonly lastUsed: { record(sessionId: string): void }
  /** @throws InQuarantine when one of these streams cannot be trusted */
  readonly reads: { assertNotQuarantined(...streams: string[]): void }
}

/**
 * Authenticates before the body is read. A token that is not valid is no token; a cookie's mutating request needs its
 * CSRF token besides. What is told to a caller is for nobody else, which no cache on the way can know by itself.
 */
export const installAuth = (app: FastifyInstance, options: AuthOptions): void => {
  const { lastUsed, config, reads } = options
  const cookieName = cookieNameOf(config)
  app.decorateRequest('caller', undefined)
  app.decorateRequest('authenticatedAt', 0)

  const authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { auth = 'none' } = request.routeOptions.config
    request.authenticatedAt = performance.now()
    if (auth === 'none') return
    const presented = presentedToken(request, cookieName)
    const attempt = newAttempt(options, request.ip, (waitMs) => tooMany(reply, waitMs))
    const caller = presented && (await attempt.callerOf(presented.token))
    if (!caller) {
      if (presented || auth === 'required') attempt.fail()
      if (auth === 'required') throw unauthorized()
      return
    }
    reads.assertNotQuarantined(...streamsOfCaller(caller))
    assertCsrf(request, presented)
    request.caller = presented.via === 'cookie' ? { ...caller, via: 'cookie' } : caller
    lastUsed.record(caller.sessionId)
  }

  app.addHook('onRequest', async (request, reply) => {
    if ((request.routeOptions.config.auth ?? 'none') === 'none') return
    addVary(reply, 'authorization, cookie')
    await authenticate(request, reply)
    if (request.caller) reply.header('cache-control', 'private')
  })
  // Rights may be lost while a body takes its time to arrive.
  app.addHook('preValidation', async (request, reply) => {
    if (!request.caller || performance.now() - request.authenticatedAt < BRIEF_MS) return
    request.caller = undefined
    await authenticate(request, reply)
  })
}
