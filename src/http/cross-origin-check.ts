import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'
import { newTrustedOriginCheck } from './origin.ts'
import { listensOnLoopback } from './reach.ts'
import type { HttpConfig } from './settings.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * On a service that listens on loopback, refuses anonymous writes from pages of other origins, except `CORS_ORIGINS`: otherwise
 * any website could create users of a service that only its owner can reach. A request without `Origin` comes from no page. The
 * redirect back from the code host is a GET, and checked by its state. Comes after authentication. @throws 403
 */
export const installCrossOriginCheck = (app: FastifyInstance, config: HttpConfig): void => {
  if (!listensOnLoopback(config)) return
  const isTrusted = newTrustedOriginCheck(app, config)

  app.addHook('onRequest', (request, _reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || request.caller || SAFE.has(request.method) || isTrusted(request)) return done()
    done(new HttpError('forbidden', 'Pages of this origin may not do this without a token: see CORS_ORIGINS'))
  })
}
