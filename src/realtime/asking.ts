import { Rejected } from '../engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import { type Pace, newPace } from './pace.ts'

/** A due execution of a query. */
export type Due = {
  /** The position that the answer has to show. */
  readonly position: bigint
  /** When the first of the changes was observed that it has to show, by `performance.now()`, and how many changes there were. */
  readonly since: number
  readonly touches: number
}

/** Decides when a query is executed: after changes, at its pace, one execution at a time, and again after a failure. */
export type Asking = Pick<Pace, 'answered' | 'refused' | 'delayUntil'> & {
  /** Notes a change at a position. */
  touch(position: bigint): void
  /** Executes without any more delay, if an execution is due. */
  hurry(): void
  /** Executes again, and forgets all noted positions. */
  restart(): void
  /** Whether no execution is running or due. */
  isIdle(): boolean
  stop(): void
}

export type AskingOptions = {
  /** Whether there are no subscribers any more. */
  readonly isOver: () => boolean
  /** Executes once. After a temporary error it is called again; any other error is passed to `fail`. */
  readonly attempt: (due: Due) => Promise<void>
  readonly fail: (error: unknown) => void
  /** The last position that was observed, which the next attempt has to show. */
  readonly lastSeen: () => bigint
}

/** Whether executing again may help. */
const isTemporary = (error: unknown) => !(error instanceof HttpError || error instanceof Rejected)

export const newAsking = ({ isOver, attempt, fail, lastSeen }: AskingOptions): Asking => {
  /** The position that the next answer has to show; undefined if the last answer is still right. */
  let wanted: bigint | undefined
  let touches = 0
  let since = 0
  let isRunning = false
  let timer: NodeJS.Timeout | undefined
  const pace = newPace()

  const schedule = () => {
    if (isRunning || timer || isOver() || wanted === undefined) return
    timer = setTimeout(() => void run(), pace.wait()).unref()
  }

  const touch = (position: bigint) => {
    if (wanted === undefined) since = performance.now()
    if (wanted === undefined || position > wanted) wanted = position
    touches += 1
    schedule()
  }

  const run = async () => {
    timer = undefined
    if (isOver() || wanted === undefined) return
    const due = { position: wanted, since, touches }
    wanted = undefined
    touches = 0
    isRunning = true
    try {
      await attempt(due)
    } catch (error) {
      if (!isTemporary(error) || !pace.failed()) return fail(error)
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

  const restart = () => {
    wanted = undefined
    hurry()
    touch(0n) // in another epoch no position has been seen yet
  }

  return {
    touch,
    hurry,
    restart,
    isIdle: () => wanted === undefined && !isRunning,
    stop: () => clearTimeout(timer),
    answered: pace.answered,
    refused: pace.refused,
    delayUntil: pace.delayUntil,
  }
}
