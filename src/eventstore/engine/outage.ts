import { LogUnavailable } from '../log/log.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { isCancelled } from '../postgres/errors.ts'

type Logger = Pick<MinimalLogger, 'info' | 'warn'>

/** An error's message, or its code: an `AggregateError` of refused connections has no message. */
const reasonOf = (error: unknown): string => {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const own = message || code || String(error)
  return cause instanceof Error ? `${own}: ${reasonOf(cause)}` : own
}

/**
 * Logs outages of PostgreSQL and of the log: one line when an outage begins and one when it ends, however many parts of the
 * process fail because of it, and however often they try again.
 */
export const newOutageLog = (logger: Logger, clock: () => number = () => performance.now()) => {
  const failing = new Set<string>()
  let what = '' // that cannot be used; empty without an outage
  let since = 0

  /** This error stops a part of the process. */
  const failed = (part: string, error: unknown) => {
    failing.add(part)
    if (what !== '') return
    what = error instanceof LogUnavailable ? 'the log' : 'PostgreSQL'
    since = clock()
    const problem = isCancelled(error) ? 'is too slow' : 'cannot be reached'
    logger.warn({ reason: reasonOf(error) }, `${what} ${problem}; the service continues as soon as it can`)
  }

  /** A part works again. The outage ends when all failed parts do. */
  const recovered = (part: string) => {
    if (!failing.delete(part) || failing.size > 0) return
    logger.info({ seconds: Math.round((clock() - since) / 1_000) }, `${what} answers again`)
    what = ''
  }

  return { failed, recovered }
}

export type OutageLog = ReturnType<typeof newOutageLog>
