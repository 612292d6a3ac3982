import type { FastifyInstance, FastifyRequest } from 'fastify'
import { signIns } from '../contract/signin.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { pickDefined } from '../http/check.ts'
import { noteRefusal } from '../http/refusals.ts'
import { route } from '../http/route.ts'
import { sha256 } from '../base/ids.ts'
import { assertDeviceId } from '../session/sign-in.ts'
import { callbackRoute } from './callback-route.ts'
import type { Codehost } from './codehost.ts'
import { confirmRoute } from './confirm-route.ts'
import { ensureBrowserCookie } from './browser-cookie.ts'
import { completeSignIn, reviewSignIn } from './complete-sign-in.ts'
import { signInPageRoutes } from './page-routes.ts'
import { originOf } from '../http/origin.ts'
import { CALLBACK, parseRedirectTarget } from './redirect.ts'
import { type CodehostSettings, codehostOf } from './settings.ts'
import type { CodehostServices } from './services.ts'

const config = { limit: 'sign-in' } as const

/** Loads what talks to the code host for the first sign-in. */
const codehostOnDemand = (settings: CodehostSettings): Codehost => {
  let codehost: Codehost | undefined
  const load = async () => (codehost ??= (await import('./codehost.ts')).newCodehost(settings))
  return {
    authorizeUrl: async (...given) => (await load()).authorizeUrl(...given),
    identify: async (...given) => (await load()).identify(...given),
  }
}

/** The page to sign in on, and the routes to sign in with the code host. Those answer 404 if none is configured. */
export const signinRoutes = (app: FastifyInstance, service: CodehostServices): void => {
  const settings = codehostOf(service.config)
  const codehost = settings && codehostOnDemand(settings)
  signInPageRoutes(app, service, settings && { settings, codehost: codehost! })
  void app.register(async (scope) => {
    scope.addHook('onRequest', async () => {
      if (!codehost) throw notFound()
    })
    startRoute(scope, service, codehost!)
    callbackRoute(scope, service, codehost!)
    confirmRoute(scope, service)
    reviewRoute(scope, service)
    completeRoute(scope, service)
  })
}

const startRoute = (app: FastifyInstance, service: CodehostServices, codehost: Codehost) => {
  const { handshakes } = service
  route(
    app,
    signIns,
    'POST /v1/auth/start',
    async (request, reply) => {
      const { body } = request
      assertDeviceId(body.deviceId, service.config)
      const origin = originOf(app, service.config)
      const options = pickDefined(body, ['deviceName', 'namespaceId', 'inviteCode', 'redirectTo'])
      const target = options.redirectTo === undefined ? undefined : parseRedirectTarget(options.redirectTo, origin)
      if (options.redirectTo !== undefined && !target)
        throw invalid('redirectTo', 'must be an address on loopback, or a page of this service')
      const browser = target?.is === 'page' ? ensureBrowserCookie(request, reply, service.config) : undefined
      const { expiresAt, ...secrets } = await handshakes.start({
        ...options,
        ...(target ? { redirectTo: target.url } : {}),
        deviceKey: sha256(body.deviceId),
        ...(browser === undefined ? {} : { browserKey: sha256(browser) }),
      })
      const authorizeUrl = await codehost.authorizeUrl(secrets, `${origin}${CALLBACK}`)
      reply.header('cache-control', 'no-store')
      return { state: secrets.state, authorizeUrl, expiresAt }
    },
    { config },
  )
}

/** The error for an unknown code. */
const unknownCode = (request: FastifyRequest) => {
  noteRefusal(request, 'sign-in not known')
  return new HttpError('invalid_request', 'The code is wrong, has expired or was used before: sign in again')
}

const reviewRoute = (app: FastifyInstance, service: CodehostServices) => {
  route(
    app,
    signIns,
    'POST /v1/auth/review',
    async (request, reply) => {
      const confirmed = await service.handshakes.peek(request.body)
      if (!confirmed) throw unknownCode(request)
      const { review } = await reviewSignIn(service, confirmed.signIn, confirmed.credential)
      reply.header('cache-control', 'no-store')
      return review
    },
    { config },
  )
}

const completeRoute = (app: FastifyInstance, service: CodehostServices) => {
  route(
    app,
    signIns,
    'POST /v1/auth/complete',
    async (request, reply) => {
      service.assertWritable()
      const confirmed = await service.handshakes.complete(request.body)
      if (!confirmed) throw unknownCode(request)
      const session = await completeSignIn(service, confirmed, request.id)
      reply.header('cache-control', 'no-store')
      return { session }
    },
    { config },
  )
}
