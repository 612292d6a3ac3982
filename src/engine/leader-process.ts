import type pg from 'pg'
import { ifLate, pause } from '../base/waits.ts'
import { LogUnavailable } from '../log/log.ts'
import { destroyConnection, newLeaderClient } from '../postgres/connect.ts'
import { type LeaderSession, openLeaderSession } from '../postgres/leader.ts'
import type { OutageLog } from './outage.ts'
import { isOutage } from './retryable-errors.ts'

export type LeaderLoopOptions = {
  readonly url: string
  /** A new connection, one for each session. */
  readonly connect: () => pg.Client
  /** Works until `stop` aborts or the session has ended. */
  readonly work: (session: LeaderSession, stop: AbortSignal) => Promise<void>
  /**
   * Called whenever the work has ended, with the error if there is one. Gives how many milliseconds to wait before the next
   * session, or `end`.
   */
  readonly onEnd: (error: Error | undefined) => Promise<number | 'end'> | number | 'end'
  /** How long to wait for the work when the loop is closed, before its connection is destroyed; without it, for ever. */
  readonly closeMs?: number | undefined
}

export type LeaderProcess = { close(): Promise<void> }

/** Works on a session with a lease (`../postgres/leader.ts`), and again on a new one whenever the work ends, until it is closed. */
export const startLeaderLoop = ({ url, connect, work, onEnd, closeMs }: LeaderLoopOptions): LeaderProcess => {
  const stop = new AbortController()
  let current: LeaderSession | undefined

  const runOnce = async () => {
    const session = await openLeaderSession(url, connect())
    current = session
    try {
      await work(session, stop.signal)
    } finally {
      current = undefined
      await session.close()
    }
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      const error = await runOnce().then(
        () => undefined,
        (reason: Error) => reason,
      )
      if (stop.signal.aborted) return
      const wait = await onEnd(error)
      if (wait === 'end') return
      await pause(wait, stop.signal)
    }
  }

  const running = run()
  const close = () => {
    stop.abort()
    return closeMs === undefined
      ? running
      : ifLate(closeMs, () => current && destroyConnection(current.client), running)
  }
  return { close }
}

export type LeaderProcessOptions = {
  readonly url: string
  /** Names its connection, and the part that an outage stops. */
  readonly name: string
  /**
   * The lock that makes it the leader: `work` begins once it is held. Without one `work` begins at once, and says itself that the
   * outage is over, and how long it takes to close is left to it.
   */
  readonly lock?: string
  /** Works until `signal` aborts: the session has ended, or the process is closed. */
  readonly work: (session: LeaderSession, signal: AbortSignal) => Promise<void>
  /** Called with what has ended the work, but for outages; gives how many milliseconds to wait before the next try, if more than usual. */
  readonly onFailure: (error: Error) => number | void
  readonly outage: OutageLog
}

const STATEMENT_MS = 30_000
const RETRY_MS = 500
const CLOSE_TIMEOUT_MS = 2_000

/** A process of which one in all nodes works at a time: the one whose session holds the lock. Outages are logged, and waited for. */
export const startLeaderProcess = (options: LeaderProcessOptions): LeaderProcess => {
  const { url, name, lock, work, onFailure, outage } = options

  const lead = async (session: LeaderSession, stop: AbortSignal) => {
    if (lock !== undefined) {
      outage.recovered(name)
      if (!(await session.acquire(lock, stop))) return
    }
    await work(session, AbortSignal.any([stop, session.lost]))
  }

  const onEnd = (error: Error | undefined) => {
    if (!error || error instanceof LogUnavailable) return RETRY_MS // the latter is logged by the watch on the log
    if (!isOutage(error)) return RETRY_MS + (onFailure(error) ?? 0)
    outage.failed(name, error)
    return RETRY_MS
  }

  const connect = () => newLeaderClient(url, name, STATEMENT_MS)
  const closeMs = lock === undefined ? undefined : CLOSE_TIMEOUT_MS
  return startLeaderLoop({ url, connect, work: lead, onEnd, closeMs })
}
