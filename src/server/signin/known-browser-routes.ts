import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { setSessionCookie } from '../http/cookies.ts'
import { formRoute } from '../http/forms.ts'
import { HttpError } from '../http/http-error.ts'
import { originOf, targetOrigin } from '../http/origin.ts'
import { signInPath } from '../pages/links.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { JOIN, KNOWN_SIGN_IN, browserPage, joinProblemPage, knownPage } from '../pages/sign-in.ts'
import { BROWSER_NAME, signInKnown } from '../session/browser-sign-ins.ts'
import { assertUsable, codeInRequest, findCode } from '../session/redeem.ts'
import type { SessionServices } from '../session/services.ts'
import { signIn } from '../session/sign-in.ts'
import { logError, setStatus, toHttpError } from '../http/errors.ts'
import {
  credentialOf,
  deviceOfForm,
  ensureBrowserDevice,
  findBrowser,
  formTokenOf,
  keepBrowserDevice,
  readBrowserDevice,
} from './browser-device.ts'
import { namedUser } from './named-user.ts'
import { ownPathOf } from './redirect.ts'

/** The routes of a browser that is a device of its user: it signs in again, and another browser becomes a device of the same user. */
export const knownBrowserRoutes = (app: FastifyInstance, service: SessionServices): void => {
  againForm(app, service)
  joinPage(app, service)
  joinForm(app, service)
}

/** Signs in the user whom the browser belongs to, and keeps its cookie for another 400 days. */
const againForm = (app: FastifyInstance, service: SessionServices) =>
  formRoute(
    app,
    { path: KNOWN_SIGN_IN, auth: 'none', limit: 'device-session', fields: { next: z.string().optional() } },
    async (request, reply) => {
      const { config, now } = service
      const next = ownPathOf(request.body.next, targetOrigin(request) ?? originOf(app, config))
      const device = readBrowserDevice(request, config)
      const session = device === undefined ? undefined : await signInKnown(service, credentialOf(device), request.id)
      if (device === undefined || !session) return signInPath(next) // it was removed since the page was opened
      setSessionCookie(reply, config, session, now())
      keepBrowserDevice(request, reply, config, device)
      return next
    },
  )

/** Sends an error of a sign-in by the link of another browser as a page to a browser. */
const sendJoinProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
  const problem = toHttpError(error)
  if (!wantsPage(request) || problem.code === 'rate_limited' || problem.code === 'unavailable') throw error
  logError(error, request)
  return sendPage(setStatus(reply, problem), joinProblemPage(problem.message))
}

const Query = z.object({ code: z.string().min(1).max(256) })

/** The page behind the link: it says who will be signed in, and changes nothing. */
const joinPage = (app: FastifyInstance, service: SessionServices) => {
  const show = async (request: FastifyRequest, reply: FastifyReply, code: string) => {
    const stored = await findCode(service, 'join', codeInRequest(service, request, code))
    const browser = await findBrowser(service, request)
    await assertUsable(service, stored, browser?.identityId)
    const { userId, deviceName } = stored.terms
    const user = await namedUser(service, userId)
    if (browser?.userId === userId) return sendPage(reply, knownPage(user))
    if (browser?.userId !== undefined)
      throw new HttpError(
        'device_known',
        'This browser belongs to another user already: sign in as that user and remove it in the settings first, or open the link in another browser',
      )
    const { caller } = request
    const present = caller && caller.userId !== userId ? await namedUser(service, caller.userId) : undefined
    const token = formTokenOf(ensureBrowserDevice(request, reply, service.config))
    return sendPage(reply, browserPage({ user, present, deviceName, code, action: JOIN, token }))
  }

  app.get<{ Querystring: z.infer<typeof Query> }>(
    JOIN,
    { config: { auth: 'optional', htmlPage: true, limit: 'sign-in' }, schema: { querystring: Query } },
    async (request, reply) => {
      try {
        return await show(request, reply, request.query.code)
      } catch (error) {
        return sendJoinProblem(error, request, reply)
      }
    },
  )
}

const joinForm = (app: FastifyInstance, service: SessionServices) => {
  const { config, now } = service

  const join = async (request: FastifyRequest, reply: FastifyReply, code: string, token: string | undefined) => {
    const device = deviceOfForm(request, config, token)
    const session = await signIn(service, {
      credential: credentialOf(device),
      join: codeInRequest(service, request, code),
      inviteCode: undefined,
      namespaceId: undefined,
      deviceName: BROWSER_NAME,
      requestId: request.id,
    })
    setSessionCookie(reply, config, session, now())
    keepBrowserDevice(request, reply, config, device)
    return '/'
  }

  formRoute(
    app,
    { path: JOIN, auth: 'none', limit: 'sign-in', fields: { ...Query.shape, token: z.string().optional() } },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const { code, token } = request.body
      try {
        return await join(request, reply, code, token)
      } catch (error) {
        return sendJoinProblem(error, request, reply)
      }
    },
  )
}
