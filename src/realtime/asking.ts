import { Rejected } from '../engine/rejected.ts'
import { HttpError } from '../http/http-error.ts'
import { type Pace, newPace } from './pace.ts'

/** What an attempt to answer a query is for. */
export type Due = {
  /** The position that the answer has to show. */
  readonly position: bigint
  /** When the first change was observed that it has to show, in milliseconds that only move forward, and how many changes there were. */
  readonly since: number
  readonly touches: number
}

/** When a query is asked: after it was touched, at its pace, once at a time, and again when that has failed. */
export type Asking = Pick<Pace, 'answered' | 'refused' | 'delayUntil'> & {
  /** The answer is another one at a position. */
  touch(position: bigint): void
  /** Asks without any more delay, if it is to be asked at all. */
  hurry(): void
  /** Asks anew, whatever it was touched for: no position has been seen yet. */
  restart(): void
  /** Whether it is neither asked nor to be asked. */
  isIdle(): boolean
  stop(): void
}

export type AskingOptions = {
  /** Whether there is nobody left who wants to know. */
  readonly isOver: () => boolean
  /** Asks once. What it throws is tried again, if that may help, and else told to `fail`. */
  readonly attempt: (due: Due) => Promise<void>
  readonly fail: (error: unknown) => void
  /** The last position that has been observed, which a further attempt has to show. */
  readonly lastSeen: () => bigint
}

/** Whether asking again may help. */
const isTemporary = (error: unknown) => !(error instanceof HttpError || error instanceof Rejected)

export const newAsking = ({ isOver, attempt, fail, lastSeen }: AskingOptions): Asking => {
  /** The position that the next answer has to show; undefined while the last one holds. */
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
    touch(0n) // where the log begins anew, no position has been seen yet
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
