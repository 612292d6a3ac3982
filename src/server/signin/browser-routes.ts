import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signIns } from '../../contract/signin.ts'
import { cookieNameOf } from '../http/auth.ts'
import { type Caller, requireCaller } from '../http/caller.ts'
import { setSessionCookie } from '../http/cookies.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { isLoopback } from '../http/address.ts'
import { adviceForPage, isFromOwnPage, originOf, targetOrigin } from '../http/origin.ts'
import { type RouteRequest, route } from '../http/route.ts'
import { newId } from '../../base/ids.ts'
import { sendPage } from '../pages/page.ts'
import { browserPage } from '../pages/sign-in.ts'
import { codeTermsOf } from '../session/one-time-codes.ts'
import { userAndNamespace } from '../session/queries.ts'
import { signOut } from '../session/decide.ts'
import { assertUsable, claimCode, findCode, codeInRequest, keepIfMakerIsValid } from '../session/redeem.ts'
import type { SessionServices } from '../session/services.ts'
import { startSession } from '../session/start-session.ts'
import { acceptForms } from '../http/forms.ts'
import { namedUser } from './named-user.ts'
import { sendProblem } from './problems.ts'
import { BROWSER, ownPageUrl, withParameters } from './redirect.ts'

const LIFETIME_MS = 60 * 1_000

/** Pages, and the targets of their forms. */
const pages = { limit: 'sign-in', htmlPage: true } as const

/** Routes by which a client with a session signs in a browser as the same user, with a one-time code. */
export const browserRoutes = (app: FastifyInstance, service: SessionServices): void => {
  startRoute(app, service)
  pageRoute(app, service)
  confirmRoute(app, service)
}

/**
 * The origin of the page: that of `PUBLIC_URL`, otherwise the one that the client has reached.
 * @throws HttpError forbidden for an origin where browsers do not keep the cookie
 */
export const pageOrigin = (
  app: FastifyInstance,
  { config }: Pick<SessionServices, 'config'>,
  request: FastifyRequest,
): string => {
  const origin = (config.PUBLIC_URL === undefined ? targetOrigin(request) : undefined) ?? originOf(app, config)
  const { protocol, hostname } = new URL(origin)
  if (protocol === 'https:' || isLoopback(hostname) || !cookieNameOf(config, request).startsWith('__Host-'))
    return origin
  throw new HttpError('forbidden', 'Browsers keep the sign-in over https:// only: set PUBLIC_URL to such an address')
}

const startRoute = (app: FastifyInstance, service: SessionServices) => {
  route(
    app,
    signIns,
    'POST /v1/session/browser',
    async (request, reply) => {
      const caller = requireCaller(request)
      const origin = pageOrigin(app, service, request)
      const { redirectTo } = request.query
      const target = redirectTo === undefined ? undefined : ownPageUrl(redirectTo, origin)
      if (redirectTo !== undefined && target === undefined)
        throw invalid('redirectTo', 'must be a page of this service: its path, or its address')
      const terms = { ...codeTermsOf(caller), ...(target === undefined ? {} : { redirectTo: target }) }
      const { code, expiresAt } = await service.codes.make('browser', terms, LIFETIME_MS)
      reply.header('cache-control', 'no-store')
      return { url: withParameters(`${origin}${BROWSER}`, { code }), expiresAt }
    },
    { config: { limit: 'sign-in' } },
  )
}

const pageRoute = (app: FastifyInstance, service: SessionServices) => {
  const show = async (request: RouteRequest<(typeof signIns)[`GET ${typeof BROWSER}`]>, reply: FastifyReply) => {
    const { code } = request.query
    const stored = await findCode(service, 'browser', codeInRequest(service, request, code))
    await assertUsable(service, stored, undefined)
    const { userId, deviceName } = stored.terms
    const present: Caller | undefined = request.caller?.userId === userId ? undefined : request.caller
    const page = browserPage({
      user: await namedUser(service, userId),
      present: present && (await namedUser(service, present.userId)),
      deviceName,
      code,
      action: BROWSER,
    })
    return sendPage(reply, page)
  }

  route(
    app,
    signIns,
    `GET ${BROWSER}`,
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      try {
        return await show(request, reply)
      } catch (error) {
        return sendProblem(error, request, reply)
      }
    },
    { config: pages },
  )
}

const confirmRoute = (app: FastifyInstance, service: SessionServices) => {
  const { config, now, assertWritable } = service

  const signInBrowser = async (
    request: RouteRequest<(typeof signIns)[`POST ${typeof BROWSER}`]>,
    reply: FastifyReply,
  ) => {
    if (!isFromOwnPage(app, config, request))
      throw new HttpError(
        'forbidden',
        `This request does not come from the page with the button: ${adviceForPage(config, request) ?? 'open the page again'}`,
      )
    assertWritable()
    const { code } = request.body
    const stored = await findCode(service, 'browser', codeInRequest(service, request, code))
    await assertUsable(service, stored, undefined)
    const { userId, identityId, sessionId, namespaceId, redirectTo = '/' } = stored.terms
    const user = await userAndNamespace(service.reads, userId, namespaceId)
    const id = newId()
    await claimCode(service, 'browser', code, id)
    const session = await startSession(service, {
      id,
      user,
      identityId,
      namespaceId,
      deviceName: 'browser',
      parentSessionId: sessionId,
      requestId: request.id,
    })
    const context = { actor: { userId, sessionId }, requestId: request.id }
    await keepIfMakerIsValid(service, stored.terms, () =>
      service.write(service.sessions, id, { decide: signOut() }, context),
    )
    setSessionCookie(reply, config, session, now())
    return reply.redirect(redirectTo, 303)
  }

  void app.register(async (scope) => {
    acceptForms(scope)
    route(
      scope,
      signIns,
      `POST ${BROWSER}`,
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        try {
          return await signInBrowser(request, reply)
        } catch (error) {
          return sendProblem(error, request, reply)
        }
      },
      { config: pages },
    )
  })
}
