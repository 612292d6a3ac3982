import type pg from 'pg'
import { ifLate, pause } from '../../base/waits.ts'
import { LogUnavailable } from '../log/log.ts'
import { destroyConnection, newLeaderClient } from '../postgres/connect.ts'
import { type LeaderSession, openLeaderSession } from '../postgres/leader.ts'
import type { OutageLog } from './outage.ts'
import { isOutage } from './retryable-errors.ts'

type LeaderLoopOptions = {
  readonly url: string
  /** A new connection, one for each session. */
  readonly connect: () => pg.Client
  /** Works until `stop` aborts or the session has ended. */
  readonly work: (session: LeaderSession, stop: AbortSignal) => Promise<void>
  /**
   * Called whenever the work has ended, with the error if there is one. Returns how many milliseconds to wait before the next
   * session, or `end`.
   */
  readonly onEnd: (error: Error | undefined) => Promise<number | 'end'> | number | 'end'
  /** How long `close` waits for the work before it destroys the connection. Default: without end. */
  readonly closeMs?: number | undefined
}

export type LeaderProcess = { close(): Promise<void> }

/** Runs `work` on a session with a lease (`../postgres/leader.ts`), and again on a new session whenever it ends, until it is closed. */
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
  /** The name of its connection, and of the part in the log lines about outages. */
  readonly name: string
  /**
   * The lock that makes it the leader: `work` begins once it is held. Without a lock `work` begins at once, and has to report
   * `outage.recovered` and to end itself when it is closed.
   */
  readonly lock?: string
  /** Works until `signal` aborts: the session has ended, or the process is closed. */
  readonly work: (session: LeaderSession, signal: AbortSignal) => Promise<void>
  /** Called with an error that has ended the work, except for outages. Returns milliseconds to wait beyond the usual, if any. */
  readonly onFailure: (error: Error) => number | void
  readonly outage: OutageLog
}

const STATEMENT_MS = 30_000
const RETRY_MS = 500
const CLOSE_TIMEOUT_MS = 2_000

/** A process that works on one node at a time, the one whose session holds the lock. Outages are logged and waited for. */
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
    if (!error || error instanceof LogUnavailable) return RETRY_MS // an unreachable log is logged by the cache subscription
    if (!isOutage(error)) return RETRY_MS + (onFailure(error) ?? 0)
    outage.failed(name, error)
    return RETRY_MS
  }

  const connect = () => newLeaderClient(url, name, STATEMENT_MS)
  const closeMs = lock === undefined ? undefined : CLOSE_TIMEOUT_MS
  return startLeaderLoop({ url, connect, work: lead, onEnd, closeMs })
}
