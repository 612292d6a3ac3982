import type pg from 'pg'
import type { OpenGroups } from '../../eventstore/engine/open-groups.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { DiskFull, Unavailable } from '../../eventstore/engine/rejected.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { type EventLog, LogUnavailable } from '../../eventstore/log/log.ts'
import { REQUEST_WAIT_MS, attemptMs } from '../../base/waits.ts'
import { newClockCheck } from '../../eventstore/postgres/clock-check.ts'
import { MAX_LAG_MS, type Readiness, newProjectorWatch, readModelsHealth } from './read-models.ts'

export const LOG_UNREACHABLE = 'the log cannot be reached'

type HealthOptions = {
  readonly groups: OpenGroups
  readonly log: Pick<EventLog, 'head'>
  /** Why the log cannot be used; undefined if it can. */
  readonly logProblem: () => string | undefined
  readonly reads: Pick<Reads<unknown>, 'check'>
  /** Queried for the state of other processes, and for the database's clock. */
  readonly pool: pg.Pool
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
  readonly isDiskLow: () => boolean
  /** The clock, in milliseconds. */
  readonly now: () => number
}

export const newServiceHealth = (options: HealthOptions) => {
  const { groups, log, logProblem, reads, pool, lastSeen, isDiskLow, now } = options
  const clock = newClockCheck({ pool, now })
  const projectors = newProjectorWatch(pool)

  /** @throws Unavailable while writes must be refused: log unreachable, projections stopped or far behind, disk nearly full */
  const assertWritable = () => {
    const problem = logProblem()
    if (problem) throw new Unavailable(problem)
    if (isDiskLow()) throw new DiskFull()
    const state = groups.main.state()
    if (state?.is === 'stopped') throw new Unavailable(`projections have stopped: ${state.reason}`)
    if (groups.main.lag.ms() > MAX_LAG_MS) throw new Unavailable('the read models are too far behind the log')
  }

  /** A log that takes longer to return its head would hardly append in time, and who asks for the health may not wait longer. */
  const headProblem = () =>
    withTimeout(attemptMs(REQUEST_WAIT_MS), LOG_UNREACHABLE, log.head()).then(
      () => undefined,
      (error: unknown) => (error instanceof LogUnavailable ? error.message : LOG_UNREACHABLE),
    )

  const readiness = async (): Promise<Readiness> => {
    const [health, clockProblem, readProblem, logFailure] = await Promise.all([
      readModelsHealth({ groups, pool, lastSeen, projectors }),
      clock.problem(),
      reads.check(),
      logProblem() ?? headProblem(),
    ])
    const isProblem = (reason: string | undefined) => reason !== undefined
    const diskProblem = isDiskLow() ? 'the disk is nearly full: writes are refused' : undefined
    return {
      missing: [...health.missing, ...[readProblem, logFailure].filter(isProblem)],
      degraded: [...health.degraded, ...[clockProblem, diskProblem].filter(isProblem)],
    }
  }

  return { assertWritable, readiness }
}
