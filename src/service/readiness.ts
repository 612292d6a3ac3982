import type pg from 'pg'
import type { Groups } from '../engine/groups.ts'
import type { Reads } from '../engine/reads.ts'
import { Unavailable } from '../engine/rejected.ts'
import { withTimeout } from '../engine/with-timeout.ts'
import type { Readiness } from '../http/health.ts'
import type { EventLog } from '../log/log.ts'
import { newClockCheck } from '../postgres/clock.ts'
import { MAX_LAG_MS, groupsHealth, newProjectorWatch } from './groups-health.ts'
import { UNREACHABLE } from './log.ts'

export type HealthOptions = {
  readonly groups: Groups
  readonly log: Pick<EventLog, 'head'>
  /** Why the log is not used, in words; undefined when it is. */
  readonly logProblem: () => string | undefined
  readonly reads: Pick<Reads<unknown>, 'check'>
  /** Asked about other processes, and about the time. */
  readonly pool: pg.Pool
  /** The last position that this node has heard of. */
  readonly heard: () => bigint
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
  const { groups, log, logProblem, reads, pool, heard, isDiskLow, now } = options
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

  const headComplaint = () =>
    withTimeout(HEAD_MS, UNREACHABLE, log.head()).then(
      () => undefined,
      () => UNREACHABLE,
    )

  const readiness = async (): Promise<Readiness> => {
    const [health, clockComplaint, unreadable, unwritable] = await Promise.all([
      groupsHealth({ groups, pool, heard, projectors }),
      clock.complaint(),
      reads.check(),
      logProblem() ?? headComplaint(),
    ])
    const isGiven = (reason: string | undefined) => reason !== undefined
    const diskComplaint = isDiskLow() ? 'the disk is nearly full: writes are refused' : undefined
    return {
      missing: [...health.missing, ...[unreadable, unwritable, diskComplaint].filter(isGiven)],
      degraded: [...health.degraded, ...[clockComplaint].filter(isGiven)],
    }
  }

  return { assertWritable, readiness }
}
