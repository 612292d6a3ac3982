import type { Logger } from 'pino'
import { WrongLog, assertSameLog } from '../../eventstore/engine/same-log.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { LOG_UNREACHABLE } from '../health/readiness.ts'
import { openLog } from '../../eventstore/log/open-log.ts'
import { type VerifiedLog, verifiedLog } from '../../eventstore/log/verified-log.ts'
import type { Metrics } from '../http/metrics.ts'

/** How long the start of the service waits for a slow log. Then it starts without it. */
const START_TIMEOUT_MS = 5_000

/** Waits up to 5 s, or as long as is said, for a part that needs the log: the service can start and serve reads without it. */
export const waitDuringStart = (work: Promise<void>, ms = START_TIMEOUT_MS): Promise<void> =>
  withTimeout(ms, LOG_UNREACHABLE, work).catch(() => {})

type ServiceLogOptions = {
  readonly databaseUrl: string
  readonly connections: number
  readonly eventStoreUrl: string | undefined
  readonly metrics: Metrics
  readonly logger: Logger
  /** Whether a wrong log is refused only once the service is open, which serves reads then. */
  readonly isReopened: boolean
}

/**
 * Opens the log, and verifies that the read models were built from it. While the log cannot be reached, this is tried again.
 * @throws WrongLog if the read models were built from another log, unless `isReopened`
 */
export const openServiceLog = async (options: ServiceLogOptions): Promise<VerifiedLog> => {
  const { databaseUrl, connections, eventStoreUrl, metrics, logger, isReopened } = options
  const unverified = await openLog({
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
    assertSameLog(databaseUrl, unverified).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof WrongLog) return error
        throw error
      },
    )
  const refused = (reason: Error) =>
    logger.fatal({ reason: reason.message }, 'this is another log than before: nothing is written or projected')
  const log = verifiedLog({ log: unverified, verify, refused })
  await waitDuringStart(log.firstAttempt)
  const problem = log.problem()
  if (isReopened || !(problem instanceof WrongLog)) return log
  await log.close()
  throw problem
}
