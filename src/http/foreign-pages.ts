import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError } from './http-error.ts'
import { originOf } from './origin.ts'
import { listensOnLoopback } from './reach.ts'
import type { HttpConfig } from './settings.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The origin of pages that came from where a request goes to. */
const askedOrigin = ({ protocol, headers }: FastifyRequest): string | undefined =>
  URL.parse(`${protocol}://${headers.host}`)?.origin

/**
 * On a service that listens on loopback an anonymous write from a page must be from a page of its own, or of
 * `CORS_ORIGINS`: any website could otherwise make users of a service that only its owner reaches. A request without
 * `Origin` is no page's. Sign-ins that come back from the code host are reads for browsers, and need their state.
 * Comes after authentication; throws 403.
 */
export const installForeignPages = (app: FastifyInstance, config: HttpConfig): void => {
  if (!listensOnLoopback(config)) return
  const trusted = new Set(config.CORS_ORIGINS)
  const isOurs = (request: FastifyRequest, origin: string) =>
    trusted.has(origin) || origin === askedOrigin(request) || origin === originOf(app, config)

  app.addHook('onRequest', (request, _reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || request.caller || SAFE.has(request.method) || isOurs(request, origin)) return done()
    done(new HttpError('forbidden', 'Pages of this origin may not do this without a token: see CORS_ORIGINS'))
  })
}
