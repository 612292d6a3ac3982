import type { FastifyReply, FastifyRequest } from 'fastify'
import { describe, logError, sendError, statusOf } from '../http/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { noteRefusal } from '../http/refusals.ts'
import type { Wish } from './handshakes.ts'
import { sendProblemPage } from './page.ts'
import { withParameters } from './redirect.ts'

const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') === true

/** For a person a page, for a program the envelope. */
export const sendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (!wantsPage(request)) return sendError(error, request, reply)
  logError(error, request)
  const problem = describe(error)
  return sendProblemPage(reply.code(statusOf(problem)), problem.message)
}

/** For a handshake that is not there, or not for who asks. */
export const sendUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  noteRefusal(request, 'sign-in not known')
  const message =
    'This sign-in is not known, has expired or was used before, or began in another browser: sign in again'
  return sendProblem(new HttpError('invalid_request', message), request, reply)
}

type Failed = { readonly error: unknown; readonly wish: Wish; readonly state: string }

/** Whoever waits at the other end must hear of it: they get the code of the error instead of one to complete with. */
export const sendFailure = (failed: Failed, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { error, wish, state } = failed
  const { code } = describe(error)
  if (code === 'invalid_request') noteRefusal(request, 'sign-in not confirmed')
  if (wish.redirectTo === undefined || wish.browserKey !== undefined) return sendProblem(error, request, reply)
  logError(error, request)
  return reply.redirect(withParameters(wish.redirectTo, { state, error: code }), 302)
}
