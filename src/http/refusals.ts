import type { FastifyRequest } from 'fastify'
import { Rejected } from '../engine/rejected.ts'

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'csrf_failed'])

/** What a request asks for, without what works like a password: the code of an invite. */
const subjectOf = ({ params }: FastifyRequest): Record<string, unknown> => {
  const { code, ...named } = (params ?? {}) as Record<string, unknown>
  return code === undefined ? named : { ...named, code: '[masked]' }
}

/** Notes who was refused what, and why; never a token, a cookie or a code. */
export const noteRefusal = (request: FastifyRequest, reason: string): void => {
  const { method, routeOptions, caller, ip } = request
  const who = caller ? { userId: caller.userId, sessionId: caller.sessionId, via: caller.via } : {}
  const what = { method, route: routeOptions.url, ...subjectOf(request) }
  request.log.info({ refused: reason, ip, ...who, what }, 'refused')
}

/** The same for an error that refuses: also for one that hides what it refuses behind a 404. */
export const logRefusal = (error: unknown, code: string, request: FastifyRequest): void => {
  if (REFUSALS.has(code)) noteRefusal(request, code)
  else if (error instanceof Rejected && error.hidesExistence) noteRefusal(request, 'hidden')
}
