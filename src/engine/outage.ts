import { LogUnavailable } from '../log/log.ts'

/**
 * An outage of what this process stands on, PostgreSQL or the log: one line when it begins and one when it is over,
 * however many parts of the process notice, and however often they try again.
 */
export type OutageLog = {
  /** A part cannot go on, because of this. */
  failed(part: string, error: unknown): void
  /** A part that has noticed can go on again; nothing otherwise. */
  recovered(part: string): void
}

type Logger = { info(data: object, message: string): void; warn(data: object, message: string): void }

/** What an error says, or its code: a connection that is refused by several addresses says nothing else. */
const reasonOf = (error: unknown): string => {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const own = message || code || String(error)
  return cause instanceof Error ? `${own}: ${reasonOf(cause)}` : own
}

export const newOutageLog = (logger: Logger, clock: () => number = () => performance.now()): OutageLog => {
  const failing = new Set<string>()
  let [what, since] = ['', 0]

  const failed = (part: string, error: unknown) => {
    failing.add(part)
    if (what !== '') return
    what = error instanceof LogUnavailable ? 'the log' : 'PostgreSQL'
    since = clock()
    logger.warn({ reason: reasonOf(error) }, `${what} cannot be reached; the service goes on as soon as it can be`)
  }

  const recovered = (part: string) => {
    if (!failing.delete(part) || failing.size > 0) return
    logger.info({ seconds: Math.round((clock() - since) / 1_000) }, `${what} can be reached again`)
    what = ''
  }

  return { failed, recovered }
}
