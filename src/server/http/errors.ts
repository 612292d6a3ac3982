import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors as statuses } from '../../contract/errors.ts'
import type { ErrorCode } from '../../contract/errors.ts'
import { type ShownError, errorPage } from '../pages/errors.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { viewerOf } from '../pages/viewer.ts'
import { drain } from './drain.ts'
import { ExplainedUnavailable, Rejected, Unavailable } from '../../eventstore/engine/rejected.ts'
import { LogUnavailable } from '../../eventstore/log/log.ts'
import { Busy } from '../../base/permits.ts'
import { isCancelled, isTransient } from '../../eventstore/postgres/errors.ts'
import { HttpError, type Details, Moved, invalid, notFound } from './http-error.ts'
import { installRefusalLog, logRefusal } from './refusals.ts'
import { addVary } from './reply.ts'

/** The default of `Retry-After`. */
const RETRY_AFTER_SECONDS = 1
const RETRIED = new Set([429, 503])

const fromRejected = ({ code, message, details }: Rejected): HttpError => {
  if (code === 'slug_taken') return invalid('slug', message)
  return new HttpError(code, message === code ? code.replaceAll('_', ' ') : message, details)
}

const fromFastify = (error: FastifyError): HttpError | undefined => {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' || error.statusCode === 413) {
    return new HttpError('payload_too_large', 'The body is too large: send less in one request')
  }
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) return invalid(undefined, error.message)
  return undefined
}

/** For whatever may pass by itself. */
export const NOT_NOW = 'The service cannot do this right now; try again'

/** The error that a client is shown, without internal details. */
export const toHttpError = (error: unknown): HttpError => {
  if (error instanceof HttpError) return error
  if (error instanceof Rejected) return fromRejected(error)
  if (error instanceof Busy) return new HttpError('unavailable', error.message, { stored: false })
  if (error instanceof ExplainedUnavailable)
    return new HttpError('unavailable', error.message, { stored: error.stored })
  if (error instanceof Unavailable || error instanceof LogUnavailable) {
    return new HttpError('unavailable', NOT_NOW, { stored: error.stored })
  }
  const known = fromFastify(error as FastifyError)
  if (known) return known
  if (error instanceof Error && 'severity' in error && isTransient(error)) {
    return new HttpError('unavailable', NOT_NOW)
  }
  return new HttpError('internal', 'The service has a fault: tell its operator the x-request-id of this answer')
}

/** Sets the status of an error, `Retry-After` if the request can be sent again, and how to authenticate if the caller has not. */
export const setStatus = (reply: FastifyReply, error: HttpError): FastifyReply => {
  const status = statuses[error.code]
  const retryAfter = error.retryAfter ?? (RETRIED.has(status) ? RETRY_AFTER_SECONDS : undefined)
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', String(retryAfter))
  return reply.code(status)
}

/** Whether the client has left before its request was complete. */
const hasHungUp = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete

/** Logs internal errors, and refusals with their caller. */
export const logError = (error: unknown, request: FastifyRequest): void => {
  if (hasHungUp(request)) return request.log.debug({ err: error }, 'a client has hung up')
  const { code } = toHttpError(error)
  logRefusal(error, code, request)
  if (statuses[code] === 500) request.log.error({ err: error }, 'request failed')
  else if (isCancelled(error)) request.log.warn({ reason: (error as Error).message }, 'request took too long')
  // Readiness and metrics show it; a log line for each request would hide the one with the cause.
  else if (statuses[code] === 503) request.log.debug({ err: error }, 'request could not be served')
}

/** Whether a session would help the client: the route takes its token. */
const needsSession = ({ code }: HttpError, { routeOptions }: FastifyRequest): boolean =>
  code === 'unauthorized' && routeOptions.config.auth !== 'none'

const messageOf = (error: HttpError, request: FastifyRequest): string =>
  !needsSession(error, request)
    ? error.message
    : request.hasBadToken
      ? 'The token of the request is not valid: it is misspelt, has expired, or was revoked. Log in again'
      : 'The request has no token: log in, and send it as `Authorization: Bearer <token>`'

/** The page of the form that was sent, by the `Referer` header; undefined for a page of another service. */
const pageOfForm = ({ headers: { referer }, host }: FastifyRequest): string | undefined => {
  const from = referer === undefined ? null : URL.parse(referer)
  return from?.host === host ? from.pathname.replace(/^\/+/, '/') : undefined
}

export const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

/** An address without the parameters that are wrong; without any, if it is not known which ones are. */
const withoutWrong = (url: string, wrong: readonly string[]): string => {
  const [path = '', query] = url.split('?')
  const kept = new URLSearchParams(wrong.length === 0 ? '' : query)
  for (const name of wrong) kept.delete(name)
  return kept.size === 0 ? path : `${path}?${kept.toString()}`
}

const shownOnPage = ({ code, details }: HttpError, message: string, request: FastifyRequest): ShownError => {
  const { id: requestId, url, protocol, host, server } = request
  const { user, isKnown } = viewerOf(request)
  const { formErrors = [], fieldErrors = {} } = (code === 'invalid_request' ? details : {}) as Partial<Details>
  const ofFields = Object.entries(fieldErrors).flatMap(([field, issues]) => issues.map((issue) => `${field} ${issue}`))
  const isOfAddress = isRead(request)
  const asked = code === 'invalid_request' ? withoutWrong(url, Object.keys(fieldErrors)) : url
  const origin = `${protocol}://${host}`
  return {
    code,
    message,
    issues: [...formErrors, ...ofFields],
    requestId,
    path: isOfAddress ? asked : pageOfForm(request),
    service: server.printedAddress(),
    origin,
    isOfAddress,
    canSignIn: isKnown && !user,
  }
}

/** Errors that browsers get as pages at any address, because people follow links to them. */
const shownAsPages: ReadonlySet<ErrorCode> = new Set(['not_found', 'unauthorized'])

/** Leads to where something was moved. Not to be cached: it may be moved back. */
const sendMoved = (moved: Moved, { url }: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply
    .code(308)
    .headers({ location: moved.addressFor(url), 'cache-control': 'no-store' })
    .send({ ok: false, error: { code: moved.code, message: moved.message } })

/**
 * Sends an error as JSON, in the form of the API. A browser that navigates gets it as a page, if the route is one of pages or if people follow
 * links to such errors.
 */
export const sendError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (error instanceof Moved) return sendMoved(error, request, reply)
  const shownError = toHttpError(error)
  const { code, details } = shownError
  logError(error, request)
  const message = messageOf(shownError, request)
  const isPage = request.routeOptions.config.htmlPage === true
  const isPageAnywhere = shownAsPages.has(code) && (code !== 'unauthorized' || needsSession(shownError, request))
  if (isPage || isPageAnywhere) addVary(reply, 'accept')
  if ((isPage || (isPageAnywhere && isRead(request))) && wantsPage(request))
    return sendPage(setStatus(reply, shownError), errorPage(shownOnPage(shownError, message, request)))
  const shown = details === undefined || (code === 'unavailable' && isRead(request)) ? {} : { details }
  return setStatus(reply, shownError).send({ ok: false, error: { code, message, ...shown } })
}

export const installErrors = (app: FastifyInstance): void => {
  installRefusalLog(app)
  app.setErrorHandler(async (error, request, reply) => {
    // Fastify closes the connection if the body was not read. The client can read the answer only after it has sent the body.
    if (reply.getHeader('connection') === 'close') await drain(request.raw)
    return sendError(error, request, reply)
  })
  app.setNotFoundHandler((request, reply) => sendError(notFound(), request, reply))
}
