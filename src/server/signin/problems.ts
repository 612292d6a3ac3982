import type { FastifyReply, FastifyRequest } from 'fastify'
import { logError, sendError, setStatus, toHttpError } from '../http/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { noteRefusal } from '../http/refusals.ts'
import type { SignInRequest } from './handshakes.ts'
import { needsInvitePage, problemPage } from '../pages/sign-in.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { NeedsInvite } from '../session/sign-up.ts'
import { withParameters } from './redirect.ts'

/** Sends an error as a page to a browser, and as the JSON envelope to other clients. */
export const sendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (!wantsPage(request)) return sendError(error, request, reply)
  logError(error, request)
  const problem = toHttpError(error)
  const page = error instanceof NeedsInvite ? needsInvitePage : problemPage(problem.message)
  return sendPage(setStatus(reply, problem), page)
}

/** Refuses a sign-in that does not exist, or not in this browser. */
export const sendUnknownSignIn = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  noteRefusal(request, 'sign-in not known')
  const message = 'This sign-in is unknown, has expired, was used before, or began in another browser: sign in again'
  return sendProblem(new HttpError('invalid_request', message), request, reply)
}

type FailedSignIn = { readonly error: unknown; readonly signIn: SignInRequest; readonly state: string }

/** Sends an error of a sign-in. A client that waits for the redirect gets the error's code as the parameter `error`. */
export const sendFailure = (failed: FailedSignIn, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { error, signIn, state } = failed
  const { code } = toHttpError(error)
  if (code === 'invalid_request') noteRefusal(request, 'sign-in not confirmed')
  if (signIn.redirectTo === undefined || signIn.browserKey !== undefined) return sendProblem(error, request, reply)
  logError(error, request)
  return reply.redirect(withParameters(signIn.redirectTo, { state, error: code }), 302)
}
