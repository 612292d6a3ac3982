import type { Logger } from 'pino'
import { WrongLog, assertSameLog } from '../engine/same-log.ts'
import { withTimeout } from '../engine/with-timeout.ts'
import { openLog } from '../log/open-log.ts'
import { type VerifiedLog, verifiedLog } from '../log/verified-log.ts'
import type { Metrics } from '../metrics.ts'

export const UNREACHABLE = 'the log cannot be reached'

/** How long a start waits for a log that does not answer. */
const START_MS = 5_000

/** Waits for what begins with the log, but not for long: reads need no log. */
export const startWaitsFor = (work: Promise<void>): Promise<void> =>
  withTimeout(START_MS, UNREACHABLE, work).catch(() => {})

export type ServiceLogOptions = {
  readonly databaseUrl: string
  readonly connections: number
  readonly eventStoreUrl: string | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Opens the log that the read models were made from; one that is away is tried again later.
 * @throws WrongLog when the read models have been made from another one
 */
export const openServiceLog = async (options: ServiceLogOptions): Promise<VerifiedLog> => {
  const { databaseUrl, connections, eventStoreUrl, metrics, logger } = options
  const bare = await openLog({
    databaseUrl,
    connections,
    eventStoreUrl,
    observe: (appends, events, ms) => {
      metrics.appendBatches.observe(appends)
      metrics.appendedEvents.inc(events)
      metrics.appendSeconds.observe(ms / 1_000)
    },
  })
  const verify = () =>
    assertSameLog(databaseUrl, bare).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof WrongLog) return error
        throw error
      },
    )
  const refused = (reason: Error) =>
    logger.fatal({ reason: reason.message }, 'the log is refused: nothing is written or projected')
  const log = verifiedLog({ log: bare, verify, refused })
  await startWaitsFor(log.firstAttempt)
  const problem = log.problem()
  if (!(problem instanceof WrongLog)) return log
  await log.close()
  throw problem
}
