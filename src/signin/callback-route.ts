import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ErrorBody, HttpError, describe, logError, sendError, statusOf } from '../http/errors.ts'
import { setSessionCookie } from '../http/cookies.ts'
import { noteRefusal } from '../http/refusals.ts'
import { sha256 } from '../ids.ts'
import type { Service } from '../service.ts'
import type { Codehost } from './codehost.ts'
import { browserCookieOf } from './cookies.ts'
import { enter } from './enter.ts'
import type { Secrets, Wish } from './handshakes.ts'
import { sendCodePage, sendProblemPage } from './page.ts'
import { CALLBACK, originOf, withParameters } from './redirect.ts'
import { Callback } from './views.ts'

const tags = ['sign-in']

type Asked = FastifyRequest<{ Querystring: Callback }>
type Claimed = { readonly wish: Wish; readonly secrets: Secrets }

const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true

/** For a person a page, for a program the envelope. */
const sendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (!wantsPage(request)) return sendError(error, request, reply)
  logError(error, request)
  const problem = describe(error)
  return sendProblemPage(reply.code(statusOf(problem)), problem.message)
}

const isSame = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** That a sign-in on our pages ends in the browser that it began in: nobody is signed in as somebody else unawares. */
const assertBrowser = (request: FastifyRequest, { browserKey }: Wish, config: Service['config']) => {
  if (browserKey === undefined) return
  const cookie = browserCookieOf(request, config)
  if (cookie !== undefined && isSame(sha256(cookie), browserKey)) return
  throw new HttpError('forbidden', 'This sign-in began in another browser: sign in again')
}

/** Where the code host sends people back to (readings: Sign-in with the code host). */
export const callbackRoute = (app: FastifyInstance, service: Service, codehost: Codehost): void => {
  const { config, handshakes, now } = service

  const identify = async (request: Asked, { wish, secrets }: Claimed) => {
    assertBrowser(request, wish, config)
    const { code, error, state, iss } = request.query
    if (error !== undefined) throw new HttpError('forbidden', 'The code host was not allowed to say who you are')
    if (code === undefined) throw new HttpError('invalid_request', 'The code host gave no code')
    const answer = { code, state: state!, ...(iss === undefined ? {} : { iss }) }
    return codehost.identify(withParameters(`${originOf(app, config)}${CALLBACK}`, answer), secrets)
  }

  const finish = async (request: Asked, reply: FastifyReply, claimed: Claimed) => {
    const { wish, secrets } = claimed
    service.assertWritable()
    const identity = await identify(request, claimed)
    if (wish.browserKey !== undefined) {
      const { token, expiresAt } = await enter(service, { wish, identity }, request.id)
      setSessionCookie(reply, config, token, Math.floor((expiresAt! - now()) / 1_000))
      return reply.redirect(wish.redirectTo!, 302)
    }
    const exchangeCode = await handshakes.settle(secrets.state, identity)
    if (wish.redirectTo === undefined) return sendCodePage(reply, exchangeCode, wish.deviceName)
    return reply.redirect(withParameters(wish.redirectTo, { state: secrets.state, exchangeCode }), 302)
  }

  /** Whoever waits at the other end must hear of it: they get the code of the error instead of one to complete with. */
  const fail = (error: unknown, request: Asked, reply: FastifyReply, { wish, secrets }: Claimed) => {
    const { code } = describe(error)
    if (code === 'invalid_request') noteRefusal(request, 'sign-in not confirmed')
    if (wish.redirectTo === undefined || wish.browserKey !== undefined) return sendProblem(error, request, reply)
    logError(error, request)
    return reply.redirect(withParameters(wish.redirectTo, { state: secrets.state, error: code }), 302)
  }

  app.get<{ Querystring: Callback }>(
    CALLBACK,
    {
      config: { auth: 'none', limit: 'sign-in', page: true },
      schema: {
        summary: 'Where the code host sends people back to',
        tags,
        querystring: Callback,
        produces: ['text/html'],
        response: {
          200: z.string(),
          302: z.null(),
          400: ErrorBody,
          403: ErrorBody,
          404: ErrorBody,
          410: ErrorBody,
          429: ErrorBody,
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const claimed = await handshakes.claim(request.query.state ?? '')
      if (!claimed) {
        noteRefusal(request, 'sign-in not known')
        const message = 'This sign-in is not known, has expired or was used before: sign in again'
        return sendProblem(new HttpError('invalid_request', message), request, reply)
      }
      try {
        return await finish(request, reply, claimed)
      } catch (error) {
        return fail(error, request, reply, claimed)
      }
    },
  )
}
