import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { signIns } from '../contract/signin.ts'
import { HttpError } from '../http/http-error.ts'
import { isFromOwnPage } from '../http/origin.ts'
import { noteRefusal } from '../http/refusals.ts'
import { route } from '../http/route.ts'
import { sendPage } from '../pages/page.ts'
import { codePage, deniedPage } from '../pages/sign-in.ts'
import { readBrowserCookie } from './browser-cookie.ts'
import { acceptForms } from '../http/forms.ts'
import type { ConfirmationAnswer } from './handshakes.ts'
import { sendProblem, sendUnknownSignIn } from './problems.ts'
import { CONFIRM, withParameters } from './redirect.ts'
import type { CodehostServices } from './services.ts'

/** The route that the confirmation page posts the user's answer to. Only a yes returns the exchange code, and only once. */
export const confirmRoute = (app: FastifyInstance, service: CodehostServices): void => {
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
