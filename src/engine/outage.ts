import { LogUnavailable } from '../log/log.ts'

/**
 * An outage of what this process stands on, PostgreSQL or the log: one line when it begins and one when it is over,
 * however many parts of the process notice, and however often they try again.
 */
export type Outage = {
  /** A part cannot go on, because of this. */
  noticed(part: string, error: unknown): void
  /** A part that has noticed can go on again; nothing otherwise. */
  over(part: string): void
}

type Logger = { info(data: object, message: string): void; warn(data: object, message: string): void }

/** What an error says, or its code: a connection that is refused by several addresses says nothing else. */
const reasonOf = (error: unknown): string => {
  const { message, code, cause } = error as { message?: string; code?: string; cause?: unknown }
  const own = message || code || String(error)
  return cause instanceof Error ? `${own}: ${reasonOf(cause)}` : own
}

export const newOutage = (logger: Logger, clock: () => number = () => performance.now()): Outage => {
  const without = new Set<string>()
  let [what, since] = ['', 0]

  const noticed = (part: string, error: unknown) => {
    without.add(part)
    if (what !== '') return
    what = error instanceof LogUnavailable ? 'the log' : 'PostgreSQL'
    since = clock()
    logger.warn({ reason: reasonOf(error) }, `${what} cannot be reached; the service goes on as soon as it can be`)
  }

  const over = (part: string) => {
    if (!without.delete(part) || without.size > 0) return
    logger.info({ seconds: Math.round((clock() - since) / 1_000) }, `${what} can be reached again`)
    what = ''
  }

  return { noticed, over }
}
