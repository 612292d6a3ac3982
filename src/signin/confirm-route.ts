import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ErrorBody } from '../http/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { noteRefusal } from '../http/refusals.ts'
import type { Service } from '../service.ts'
import { browserCookieOf } from './browser-cookie.ts'
import type { Answer } from './handshakes.ts'
import { sendCodePage, sendDeniedPage } from './page.ts'
import { sendProblem, sendUnknown } from './problems.ts'
import { originOf } from '../http/origin.ts'
import { CONFIRM, withParameters } from './redirect.ts'
import { AuthConfirm } from './views.ts'

const FORM = 'application/x-www-form-urlencoded'
const FORM_BYTES = 4 * 1024

/** That an answer comes from our own page, as far as the browser says where it comes from. */
const assertOwnPage = ({ headers }: FastifyRequest, origin: string) => {
  const { 'sec-fetch-site': site = 'same-origin', origin: from = origin } = headers
  if (site === 'same-origin' && from === origin) return
  throw new HttpError('forbidden', 'This answer comes from another site: sign in again')
}

/** Where the page sends the answer of the person who was asked. Only a yes gives the code, and only once. */
export const confirmRoute = (app: FastifyInstance, service: Service): void => {
  const { config, handshakes, assertWritable } = service

  const confirm = async (request: FastifyRequest, reply: FastifyReply, answer: Answer) => {
    assertWritable()
    const confirmed = await handshakes.confirm(answer)
    if (!confirmed) return sendUnknown(request, reply)
    const { exchangeCode, wish } = confirmed
    if (wish.redirectTo === undefined) return sendCodePage(reply, exchangeCode, wish.deviceName)
    return reply.redirect(withParameters(wish.redirectTo, { state: answer.state, exchangeCode }), 303)
  }

  const deny = async (request: FastifyRequest, reply: FastifyReply, answer: Answer) => {
    const denied = await handshakes.deny(answer)
    if (!denied) return sendUnknown(request, reply)
    noteRefusal(request, 'sign-in denied')
    const { redirectTo } = denied.wish
    if (redirectTo === undefined) return sendDeniedPage(reply)
    return reply.redirect(withParameters(redirectTo, { state: answer.state, error: 'forbidden' }), 303)
  }

  // A form is taken here and nowhere else: other sites can send forms without being asked.
  void app.register(async (scope) => {
    scope.addContentTypeParser(FORM, { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, body, done) =>
      done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    )
    scope.post<{ Body: AuthConfirm }>(
      CONFIRM,
      {
        config: { auth: 'none', limit: 'sign-in', page: true },
        schema: {
          summary: 'Say yes or no to a sign-in, from the page that asks',
          description:
            'For the form of that page, in the browser that was asked. Yes gives the code for `POST /v1/auth/complete`, ' +
            'on a page or to `redirectTo`; no ends the sign-in. Works once. Failures are pages, too.',
          tags: ['sign-in'],
          body: AuthConfirm,
          consumes: [FORM],
          produces: ['text/html'],
          response: {
            200: z.string(),
            303: z.null(),
            400: ErrorBody,
            403: ErrorBody,
            404: ErrorBody,
            413: ErrorBody,
            429: ErrorBody,
            503: ErrorBody,
          },
        },
      },
      async (request, reply) => {
        reply.header('cache-control', 'no-store')
        try {
          assertOwnPage(request, originOf(app, config))
          const { answer, ...shown } = request.body
          const given = { ...shown, browser: browserCookieOf(request, config) ?? '' }
          return await (answer === 'yes' ? confirm : deny)(request, reply, given)
        } catch (error) {
          return sendProblem(error, request, reply)
        }
      },
    )
  })
}
