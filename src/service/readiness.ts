import type pg from 'pg'
import type { OpenGroups } from '../engine/open-groups.ts'
import type { Reads } from '../engine/reads.ts'
import { Unavailable } from '../engine/rejected.ts'
import { withTimeout } from '../engine/with-timeout.ts'
import type { Readiness } from '../http/health.ts'
import type { EventLog } from '../log/log.ts'
import { newClockCheck } from '../postgres/clock-check.ts'
import { MAX_LAG_MS, groupsHealth, newProjectorWatch } from './groups-health.ts'
import { UNREACHABLE } from './log.ts'

export type HealthOptions = {
  readonly groups: OpenGroups
  readonly log: Pick<EventLog, 'head'>
  /** Why the log is not used, in words; undefined when it is. */
  readonly logProblem: () => string | undefined
  readonly reads: Pick<Reads<unknown>, 'check'>
  /** Asked about other processes, and about the time. */
  readonly pool: pg.Pool
  /** The last position that this node's caches have observed. */
  readonly lastSeen: () => bigint
  readonly isDiskLow: () => boolean
  /** The clock, in milliseconds. */
  readonly now: () => number
}

export type ServiceHealth = {
  /** @throws Unavailable while writes must not be taken: projections stopped or far behind, or the disk nearly full */
  readonly assertWritable: () => void
  readonly readiness: () => Promise<Readiness>
}

/** How long the log may take to say where it ends. */
const HEAD_MS = 5_000

export const newServiceHealth = (options: HealthOptions): ServiceHealth => {
  const { groups, log, logProblem, reads, pool, lastSeen, isDiskLow, now } = options
  const clock = newClockCheck({ pool, now })
  const projectors = newProjectorWatch(pool)

  const assertWritable = () => {
    const problem = logProblem()
    if (problem) throw new Unavailable(problem)
    if (isDiskLow()) throw new Unavailable('the disk is nearly full')
    const state = groups.main.state()
    if (state?.is === 'stopped') throw new Unavailable(`projections have stopped: ${state.reason}`)
    if (groups.main.lag.ms() > MAX_LAG_MS) throw new Unavailable('the read models are too far behind')
  }

  const headProblem = () =>
    withTimeout(HEAD_MS, UNREACHABLE, log.head()).then(
      () => undefined,
      () => UNREACHABLE,
    )

  const readiness = async (): Promise<Readiness> => {
    const [health, clockProblem, unreadable, unwritable] = await Promise.all([
      groupsHealth({ groups, pool, lastSeen, projectors }),
      clock.problem(),
      reads.check(),
      logProblem() ?? headProblem(),
    ])
    const isGiven = (reason: string | undefined) => reason !== undefined
    const diskProblem = isDiskLow() ? 'the disk is nearly full: writes are refused' : undefined
    return {
      missing: [...health.missing, ...[unreadable, unwritable, diskProblem].filter(isGiven)],
      degraded: [...health.degraded, ...[clockProblem].filter(isGiven)],
    }
  }

  return { assertWritable, readiness }
}
