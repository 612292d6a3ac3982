import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { setSessionCookie } from '../http/cookies.ts'
import { ErrorBody } from '../http/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { originOf } from '../http/origin.ts'
import { sha256 } from '../ids.ts'
import type { Service } from '../service.ts'
import type { Credential } from '../user/decide.ts'
import { browserCookieOf, markBrowser } from './browser-cookie.ts'
import type { Codehost } from './codehost.ts'
import type { Secrets, Wish } from './handshakes.ts'
import { sendQuestionPage } from './page.ts'
import { sendFailure, sendUnknown } from './problems.ts'
import { CALLBACK, CONFIRM, withParameters } from './redirect.ts'
import { look } from './review.ts'
import { enter } from './start-session.ts'
import { Callback } from './views.ts'

const tags = ['sign-in']

type Asked = FastifyRequest<{ Querystring: Callback }>
type Claimed = { readonly wish: Wish; readonly secrets: Secrets }

const isSame = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** That a sign-in on our pages ends in the browser that it began in: nobody is signed in as somebody else unawares. */
const assertBrowser = (request: FastifyRequest, { browserKey }: Wish, config: Service['config']) => {
  if (browserKey === undefined) return
  const cookie = browserCookieOf(request, config)
  if (cookie !== undefined && isSame(sha256(cookie), browserKey)) return
  throw new HttpError('forbidden', 'This sign-in began in another browser: sign in again')
}

/** Where the code host sends people back to. */
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

  /** Whoever began may be somebody else than whoever has come back: the latter is asked before anything is joined. */
  const askFirst = async (request: Asked, reply: FastifyReply, { wish, secrets }: Claimed, credential: Credential) => {
    const { state } = secrets
    const { joining, shown } = await look(service, wish, credential)
    const browser = markBrowser(request, reply, config)
    const confirmation = await handshakes.hold(state, { credential, agreed: joining }, browser)
    return sendQuestionPage(reply, { shown, state, confirmation, action: CONFIRM, redirectTo: wish.redirectTo })
  }

  const finish = async (request: Asked, reply: FastifyReply, claimed: Claimed) => {
    const { wish } = claimed
    service.assertWritable()
    const credential = await identify(request, claimed)
    if (wish.browserKey === undefined) return askFirst(request, reply, claimed, credential)
    // It began on a page of ours, in this browser.
    const { token, expiresAt } = await enter(service, { wish, credential }, request.id)
    setSessionCookie(reply, config, token, Math.floor((expiresAt! - now()) / 1_000))
    return reply.redirect(wish.redirectTo!, 302)
  }

  app.get<{ Querystring: Callback }>(
    CALLBACK,
    {
      config: { auth: 'none', limit: 'sign-in', page: true },
      schema: {
        summary: 'Where the code host sends people back to: asks whether to join account and device',
        description:
          'For browsers: the page shows the account, the device and the user that will be joined, and asks. A sign-in ' +
          'that began on a page of this service sets the cookie and goes back there instead. Works once, within 10 ' +
          'minutes. Failures are pages, too.',
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
          503: ErrorBody,
        },
      },
    },
    async (request, reply) => {
      reply.header('cache-control', 'no-store')
      const claimed = await handshakes.claim(request.query.state ?? '')
      if (!claimed) return sendUnknown(request, reply)
      const { wish, secrets } = claimed
      try {
        return await finish(request, reply, claimed)
      } catch (error) {
        return sendFailure({ error, wish, state: secrets.state }, request, reply)
      }
    },
  )
}
