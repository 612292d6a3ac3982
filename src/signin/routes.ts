import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { pickDefined } from '../http/pick-defined.ts'
import { noteRefusal } from '../http/refusals.ts'
import { answers, ok } from '../http/reply.ts'
import { sha256 } from '../ids.ts'
import { assertDeviceId } from '../session/device-id.ts'
import { callbackRoute } from './callback-route.ts'
import { type Codehost, newCodehost } from './codehost.ts'
import { confirmRoute } from './confirm-route.ts'
import { ensureBrowserCookie } from './browser-cookie.ts'
import { completeSignIn } from './complete-sign-in.ts'
import { originOf } from '../http/origin.ts'
import { CALLBACK, parseRedirectTarget } from './redirect.ts'
import { codehostOf } from './settings.ts'
import { SignInReview, reviewSignIn } from './review.ts'
import { AuthComplete, AuthCompleted, AuthStart, AuthStarted } from './views.ts'
import type { CodehostServices } from './services.ts'

const tags = ['sign-in']

/** The routes to sign in with the code host. They answer 404 when none is configured. */
export const signinRoutes = (app: FastifyInstance, service: CodehostServices): void => {
  const settings = codehostOf(service.config)
  const codehost = settings && newCodehost(settings)
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

const startRoute = (app: FastifyInstance, { config, handshakes }: CodehostServices, codehost: Codehost) => {
  app.post<{ Body: AuthStart }>(
    '/v1/auth/start',
    {
      config: { auth: 'none', limit: 'sign-in' },
      schema: {
        summary: 'Start to sign in with the code host',
        description:
          'Open `authorizeUrl` in a browser. After the person has agreed there and here, a page shows a code, or ' +
          '`redirectTo` gets it; `POST /v1/auth/complete` makes a session of it within 10 minutes. Each call starts ' +
          'another sign-in. Errors: `invalid_request` (400) for a short or missing `deviceId` or another `redirectTo`; ' +
          '`not_found` (404) on a service without a code host; `rate_limited` (429) beyond 60 calls a minute from one ' +
          'address (default).',
        tags,
        body: AuthStart,
        response: answers(AuthStarted, 403, 404),
      },
    },
    async (request, reply) => {
      const { body } = request
      assertDeviceId(body.deviceId, config)
      const origin = originOf(app, config)
      const options = pickDefined(body, ['deviceName', 'namespaceId', 'inviteCode', 'redirectTo'])
      const target = options.redirectTo === undefined ? undefined : parseRedirectTarget(options.redirectTo, origin)
      if (options.redirectTo !== undefined && !target)
        throw invalid('redirectTo', 'must be loopback, or a page of ours')
      const browser = target?.is === 'page' ? ensureBrowserCookie(request, reply, config) : undefined
      const { expiresAt, ...secrets } = await handshakes.start({
        ...options,
        ...(target ? { redirectTo: target.url } : {}),
        deviceKey: sha256(body.deviceId),
        ...(browser === undefined ? {} : { browserKey: sha256(browser) }),
      })
      const authorizeUrl = await codehost.authorizeUrl(secrets, `${origin}${CALLBACK}`)
      return ok(reply.header('cache-control', 'no-store'), { state: secrets.state, authorizeUrl, expiresAt })
    },
  )
}

/** The error for a code that no sign-in has. */
const unknownCode = (request: FastifyRequest) => {
  noteRefusal(request, 'sign-in not known')
  return new HttpError('invalid_request', 'The code is wrong, has expired or was used before: sign in again')
}

const reviewRoute = (app: FastifyInstance, service: CodehostServices) => {
  app.post<{ Body: AuthComplete }>(
    '/v1/auth/review',
    {
      config: { auth: 'none', limit: 'sign-in' },
      schema: {
        summary: 'See which account and which user a code would join to the device; the code stays good',
        description:
          'For a program that asks its user before it completes a sign-in. Changes nothing and can be repeated. Errors: ' +
          '`invalid_request` (400) for a code that is wrong, used or older than 10 minutes; `not_found` (404) on a ' +
          'service without a code host.',
        tags,
        body: AuthComplete,
        response: answers(SignInReview, 404),
      },
    },
    async (request, reply) => {
      const confirmed = await service.handshakes.peek(request.body)
      if (!confirmed) throw unknownCode(request)
      const { review } = await reviewSignIn(service, confirmed.signIn, confirmed.credential)
      return ok(reply.header('cache-control', 'no-store'), review)
    },
  )
}

const completeRoute = (app: FastifyInstance, service: CodehostServices) => {
  app.post<{ Body: AuthComplete }>(
    '/v1/auth/complete',
    {
      config: { auth: 'none', limit: 'sign-in' },
      schema: {
        summary: 'Complete a sign-in with the code that it gave',
        description:
          'Starts a session of the user that the account belongs to. A new account is joined to the user of the device, ' +
          'or makes a user. Works once. Errors: `invalid_request` (400) for a code that is wrong, used or older than ' +
          '10 minutes; `forbidden` (403) for a namespace that the user is no member of, or a new user where only the ' +
          'invited may sign up; `not_found` (404) for an unknown namespace, or on a service without a code host; ' +
          '`invite_revoked`, `invite_expired`, `invite_used` (410).',
        tags,
        body: AuthComplete,
        response: answers(AuthCompleted, 403, 404, 410),
      },
    },
    async (request, reply) => {
      service.assertWritable()
      const confirmed = await service.handshakes.complete(request.body)
      if (!confirmed) throw unknownCode(request)
      const session = await completeSignIn(service, confirmed, request.id)
      return ok(reply.header('cache-control', 'no-store'), { session })
    },
  )
}
