import type { FastifyRequest } from 'fastify'
import { Rejected } from '../engine/rejected.ts'

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'csrf_failed'])

/** The parameters of a request; invite codes are masked, because they work like passwords. */
const subjectOf = ({ params }: FastifyRequest): Record<string, unknown> => {
  const { code, ...named } = (params ?? {}) as Record<string, unknown>
  return code === undefined ? named : { ...named, code: '[masked]' }
}

/** Logs who was refused what, and why; never tokens, cookies or codes. */
export const noteRefusal = (request: FastifyRequest, reason: string): void => {
  const { method, routeOptions, caller, ip } = request
  const who = caller ? { userId: caller.userId, sessionId: caller.sessionId, via: caller.via } : {}
  const what = { method, route: routeOptions.url, ...subjectOf(request) }
  request.log.info({ refused: reason, ip, ...who, what }, 'refused')
}

/** The same for an error, if it is a refusal; also for a 404 that hides what the caller may not see. */
export const logRefusal = (error: unknown, code: string, request: FastifyRequest): void => {
  if (REFUSALS.has(code)) noteRefusal(request, code)
  else if (error instanceof Rejected && error.hidesExistence) noteRefusal(request, 'hidden')
}
