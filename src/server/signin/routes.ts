import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { sha256 } from '../../base/ids.ts'
import { signIns } from '../../contract/signin.ts'
import { pickDefined } from '../http/check.ts'
import { acceptForms, formRoute } from '../http/forms.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { isFromOwnPage, originOf, targetOrigin } from '../http/origin.ts'
import { noteRefusal } from '../http/refusals.ts'
import { route } from '../http/route.ts'
import { readInvitePath } from '../pages/links.ts'
import { sendPage } from '../pages/page.ts'
import { CODEHOST_SIGN_IN, codePage, deniedPage, SIGN_IN, signInPage } from '../pages/sign-in.ts'
import { assertDeviceId } from '../session/sign-in.ts'
import { ensureBrowserCookie, readBrowserCookie } from './browser-cookie.ts'
import { knownBrowser } from './browser-device.ts'
import { callbackRoute } from './callback-route.ts'
import type { Codehost } from './codehost.ts'
import { completeSignIn, reviewSignIn } from './complete-sign-in.ts'
import type { ConfirmationAnswer } from './handshakes.ts'
import { sendProblem, sendUnknownSignIn } from './problems.ts'
import { CALLBACK, CONFIRM, ownPageUrl, ownPathOf, parseRedirectTarget, withParameters } from './redirect.ts'
import type { CodehostServices } from './services.ts'
import { codehostOf, type CodehostSettings, hostOf } from './settings.ts'

/** The route that the confirmation page posts the user's answer to. Only a yes returns the exchange code, and only once. */
const confirmRoute = (app: FastifyInstance, service: CodehostServices): void => {
  const { config, handshakes, assertWritable } = service

  const confirm = async (request: FastifyRequest, reply: FastifyReply, answer: ConfirmationAnswer) => {
    assertWritable()
    const confirmed = await handshakes.confirm(answer)
    if (!confirmed) return sendUnknownSignIn(request, reply)
    const { exchangeCode, signIn } = confirmed
    if (signIn.redirectTo === undefined) return sendPage(reply, codePage(exchangeCode, signIn.deviceName))
    return reply.redirect(withParameters(signIn.redirectTo, { state: answer.state, exchangeCode }), 303)
  }

  const deny = async (request: FastifyRequest, reply: FastifyReply, answer: ConfirmationAnswer) => {
    const denied = await handshakes.deny(answer)
    if (!denied) return sendUnknownSignIn(request, reply)
    noteRefusal(request, 'sign-in denied')
    const { redirectTo } = denied.signIn
    if (redirectTo === undefined) return sendPage(reply, deniedPage)
    return reply.redirect(withParameters(redirectTo, { state: answer.state, error: 'forbidden' }), 303)
  }

  void app.register(async (scope) => {
    acceptForms(scope)
    route(
      scope,
      signIns,
      `POST ${CONFIRM}`,
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        try {
          if (!isFromOwnPage(app, config, request))
            throw new HttpError('forbidden', 'This answer does not come from the confirmation page: sign in again')
          const { answer, ...secrets } = request.body
          const browser = readBrowserCookie(request, config) ?? ''
          return await (answer === 'yes' ? confirm : deny)(request, reply, { ...secrets, browser })
        } catch (error) {
          return sendProblem(error, request, reply)
        }
      },
      { config: { limit: 'sign-in', htmlPage: true } },
    )
  })
}

type OwnCodehost = { readonly codehost: Codehost; readonly settings: CodehostSettings } | undefined

const next = z.string().optional()
const Query = z.object({ next })

/** `GET /signin`, the page where a browser signs in, and its form, which starts a sign-in with the code host. */
const signInPageRoutes = (app: FastifyInstance, service: CodehostServices, own: OwnCodehost): void => {
  const { config, handshakes } = service

  app.get<{ Querystring: z.infer<typeof Query> }>(
    SIGN_IN,
    { config: { auth: 'optional', htmlPage: true }, schema: { querystring: Query } },
    async (request, reply) => {
      const origin = targetOrigin(request) ?? originOf(app, config)
      const target = ownPathOf(request.query.next, origin)
      if (request.caller) return reply.redirect(target, 303)
      const known = (await knownBrowser(service, request))?.named
      return sendPage(
        reply,
        signInPage({
          known,
          codehost: own && hostOf(own.settings),
          next: target,
          service: app.printedAddress(),
          origin,
        }),
      )
    },
  )

  formRoute(
    app,
    { path: CODEHOST_SIGN_IN, auth: 'none', limit: 'sign-in', fields: { next } },
    async (request, reply) => {
      if (!own) throw notFound()
      const origin = originOf(app, config)
      const redirectTo = ownPageUrl(request.body.next ?? '/', origin) ?? `${origin}/`
      const inviteCode = readInvitePath(new URL(redirectTo).pathname)
      const { expiresAt: _, ...secrets } = await handshakes.start({
        redirectTo,
        ...(inviteCode === undefined ? {} : { inviteCode }),
        deviceName: 'browser',
        browserKey: sha256(ensureBrowserCookie(request, reply, config)),
      })
      return own.codehost.authorizeUrl(secrets, `${origin}${CALLBACK}`)
    },
  )
}

const config = { limit: 'sign-in' } as const

/** A code host whose module, with its large library, is loaded only at the first sign-in. */
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
      const { displayName, slug, ...codes } = request.body
      const confirmed = await service.handshakes.complete(codes)
      if (!confirmed) throw unknownCode(request)
      const session = await completeSignIn(service, { ...confirmed, displayName, slug }, request.id)
      reply.header('cache-control', 'no-store')
      return { session }
    },
    { config },
  )
}
