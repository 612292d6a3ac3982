import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import { addressKey } from './address.ts'
import { ForeignHost } from './http-error.ts'
import { type LineBudget, newLineBudget } from './line-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    refusalLines: LineBudget
  }
}

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'csrf_failed'])

/** The maximum number of lines per minute for each reason, of one session or address. */
const MOST_LINES = 20

/** The parameters of a request; invite codes are masked, because they work like passwords. */
const subjectOf = ({ params }: FastifyRequest): Record<string, unknown> => {
  const { code, ...named } = (params ?? {}) as Record<string, unknown>
  return code === undefined ? named : { ...named, code: '[masked]' }
}

/** Logs the caller, the request and the reason of a refusal; never tokens, cookies or codes. */
export const noteRefusal = (request: FastifyRequest, reason: string): void => {
  const { method, routeOptions, caller, ip } = request
  if (!request.server.refusalLines.take(reason, caller?.sessionId ?? addressKey(ip), MOST_LINES)) return
  const who = caller ? { userId: caller.userId, sessionId: caller.sessionId, via: caller.via } : {}
  const what = { method, route: routeOptions.url, ...subjectOf(request) }
  request.log.info({ refused: reason, ip, ...who, what }, 'refused')
}

/** One line for all callers: any client can send any host, and one line is enough to show that a name may be missing. */
const noteForeignHost = (request: FastifyRequest, host: string): void => {
  if (request.server.refusalLines.take('host', '', 1))
    request.log.info({ refused: 'host', ip: request.ip, host }, 'refused')
}

/** Logs an error if it is a refusal, or a 404 that hides what the caller may not see. */
export const logRefusal = (error: unknown, code: string, request: FastifyRequest): void => {
  if (error instanceof ForeignHost) noteForeignHost(request, error.host)
  else if (REFUSALS.has(code)) noteRefusal(request, code)
  else if (error instanceof Rejected && error.hidesExistence) noteRefusal(request, 'hidden')
}

/** Bounds the lines about refusals. Those without a line are counted in one line per minute for each reason. */
export const installRefusalLog = (app: FastifyInstance): void => {
  const report = (refused: string, count: number) =>
    app.log.info({ refused, count }, 'refused, without a line for each')
  const lines = newLineBudget({ report })
  app.decorate('refusalLines', lines)
  app.addHook('onClose', async () => lines.close())
}
