import { Rejected } from '../../eventstore/engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import { type Pace, newPace } from './pace.ts'

/** An execution of a query that is due. */
export type Execution = {
  /** The position that the answer has to show. */
  readonly position: bigint
  /** When the first of the changes that it has to show was observed, by `performance.now()`, and the number of these changes. */
  readonly firstChangeAt: number
  readonly changes: number
}

/** Decides when a query is executed: after changes, at its pace, one execution at a time, and again after a failure. */
type Scheduler = Pick<Pace, 'answered' | 'refused' | 'delayUntil'> & {
  /** Notes a change at a position. */
  touch(position: bigint): void
  /** Executes without any more delay, if an execution is due. */
  hurry(): void
  /** Whether no execution is running or due. */
  isIdle(): boolean
  stop(): void
}

type SchedulerOptions = {
  /** Whether there are no subscribers any more. */
  readonly isOver: () => boolean
  /** Executes once. After a temporary error it is called again; any other error is passed to `fail`. */
  readonly attempt: (execution: Execution) => Promise<void>
  readonly fail: (error: unknown) => void
  /** The last position that was observed, which the next attempt has to show. */
  readonly lastSeen: () => bigint
}

/** Whether executing again may help. */
const isTemporary = (error: unknown) => !(error instanceof HttpError || error instanceof Rejected)

export const newScheduler = ({ isOver, attempt, fail, lastSeen }: SchedulerOptions): Scheduler => {
  /** The position that the next answer has to show; undefined if the last answer is still right. */
  let wanted: bigint | undefined
  let changes = 0
  let firstChangeAt = 0
  let isRunning = false
  let timer: NodeJS.Timeout | undefined
  const pace = newPace()

  const schedule = () => {
    if (isRunning || timer || isOver() || wanted === undefined) return
    timer = setTimeout(() => void run(), pace.delayMs()).unref()
  }

  const touch = (position: bigint) => {
    if (wanted === undefined) firstChangeAt = performance.now()
    if (wanted === undefined || position > wanted) wanted = position
    changes += 1
    schedule()
  }

  const run = async () => {
    timer = undefined
    if (isOver() || wanted === undefined) return
    const execution = { position: wanted, firstChangeAt, changes }
    wanted = undefined
    changes = 0
    isRunning = true
    try {
      await attempt(execution)
    } catch (error) {
      if (!isTemporary(error) || pace.noteFailure() === 'give up') return fail(error)
      touch(lastSeen())
    } finally {
      isRunning = false
      schedule()
    }
  }

  const hurry = () => {
    pace.hurry()
    clearTimeout(timer)
    timer = undefined
    schedule()
  }

  return {
    touch,
    hurry,
    isIdle: () => wanted === undefined && !isRunning,
    stop: () => clearTimeout(timer),
    answered: pace.answered,
    refused: pace.refused,
    delayUntil: pace.delayUntil,
  }
}
