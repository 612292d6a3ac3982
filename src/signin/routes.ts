import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { HttpError, invalid, notFound } from '../http/errors.ts'
import { given } from '../http/given.ts'
import { noteRefusal } from '../http/refusals.ts'
import { answers, ok } from '../http/reply.ts'
import { sha256 } from '../ids.ts'
import type { Service } from '../service.ts'
import { callbackRoute } from './callback-route.ts'
import { type Codehost, newCodehost } from './codehost.ts'
import { setBrowserCookie } from './cookies.ts'
import { enter } from './enter.ts'
import { CALLBACK, originOf, targetOf } from './redirect.ts'
import { codehostOf } from './settings.ts'
import { AuthComplete, AuthCompleted, AuthStart, AuthStarted } from './views.ts'

const tags = ['sign-in']

/** Sign-in with the code host; without one configured there are no such routes (readings: Sign-in). */
export const signinRoutes = (app: FastifyInstance, service: Service): void => {
  const settings = codehostOf(service.config)
  const codehost = settings && newCodehost(settings)
  void app.register(async (scope) => {
    scope.addHook('onRequest', async () => {
      if (!codehost) throw notFound()
    })
    startRoute(scope, service, codehost!)
    callbackRoute(scope, service, codehost!)
    completeRoute(scope, service)
  })
}

const startRoute = (app: FastifyInstance, { config, handshakes }: Service, codehost: Codehost) => {
  app.post<{ Body: AuthStart }>(
    '/v1/auth/start',
    {
      config: { auth: 'none', limit: 'sign-in' },
      schema: {
        summary: 'Start to sign in with the code host',
        tags,
        body: AuthStart,
        response: answers(AuthStarted, 400, 403, 404, 429),
      },
    },
    async ({ body }, reply) => {
      const origin = originOf(app, config)
      const wish = given(body, ['deviceName', 'namespaceId', 'inviteCode', 'redirectTo'])
      const target = wish.redirectTo === undefined ? undefined : targetOf(wish.redirectTo, origin)
      if (wish.redirectTo !== undefined && !target) throw invalid('redirectTo', 'must be loopback, or a page of ours')
      const browser = target?.is === 'page' ? randomBytes(32).toString('base64url') : undefined
      const { expiresAt, ...secrets } = await handshakes.start({
        ...wish,
        ...(target ? { redirectTo: target.url } : {}),
        deviceKey: sha256(body.deviceId),
        ...(browser === undefined ? {} : { browserKey: sha256(browser) }),
      })
      const authorizeUrl = await codehost.authorizeUrl(secrets, `${origin}${CALLBACK}`)
      if (browser !== undefined) setBrowserCookie(reply, config, browser)
      return ok(reply.header('cache-control', 'no-store'), { state: secrets.state, authorizeUrl, expiresAt })
    },
  )
}

const completeRoute = (app: FastifyInstance, service: Service) => {
  app.post<{ Body: AuthComplete }>(
    '/v1/auth/complete',
    {
      config: { auth: 'none', limit: 'sign-in' },
      schema: {
        summary: 'Complete a sign-in with the code that it gave',
        tags,
        body: AuthComplete,
        response: answers(AuthCompleted, 400, 403, 404, 410, 429),
      },
    },
    async (request, reply) => {
      service.assertWritable()
      const { state, exchangeCode } = request.body
      const settled = await service.handshakes.complete(state, exchangeCode)
      if (!settled) {
        noteRefusal(request, 'sign-in not known')
        throw new HttpError('invalid_request', 'The code is wrong, has expired or was used before: sign in again')
      }
      const session = await enter(service, settled, request.id)
      return ok(reply.header('cache-control', 'no-store'), { session })
    },
  )
}
