import { LogUnavailable } from '../log/log.ts'
import { pause } from '../base/waits.ts'
import { destroyConnection, newLeaderClient } from '../postgres/connect.ts'
import { type LeaderSession, openLeaderSession } from '../postgres/leader.ts'
import type { OutageLog } from './outage.ts'
import { isOutage } from './retryable-errors.ts'

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

export type LeaderProcess = { close(): Promise<void> }

const STATEMENT_MS = 30_000
const RETRY_MS = 500
const CLOSE_TIMEOUT_MS = 2_000

/**
 * Works on a session with a lease, of which the server lets one process have the lock; begins again on a new one whenever the
 * work ends, until it is closed.
 */
export const startLeaderProcess = (options: LeaderProcessOptions): LeaderProcess => {
  const { url, name, lock, work, onFailure, outage } = options
  const stop = new AbortController()
  let current: LeaderSession | undefined

  const lead = async (session: LeaderSession) => {
    if (lock !== undefined) {
      outage.recovered(name)
      if (!(await session.acquire(lock, stop.signal))) return
    }
    await work(session, AbortSignal.any([stop.signal, session.lost]))
  }

  const runOnce = async () => {
    const session = await openLeaderSession(url, newLeaderClient(url, name, STATEMENT_MS))
    current = session
    try {
      await lead(session)
    } finally {
      current = undefined
      await session.close()
    }
  }

  const handleFailure = (error: Error) => {
    if (stop.signal.aborted) return
    if (error instanceof LogUnavailable) return // logged by the watch on the log
    if (isOutage(error)) return outage.failed(name, error)
    return pause(onFailure(error) ?? 0, stop.signal)
  }

  const runUntilStopped = async () => {
    while (!stop.signal.aborted) {
      await runOnce().catch(handleFailure)
      await pause(RETRY_MS, stop.signal)
    }
  }

  const running = runUntilStopped()
  const close = async () => {
    stop.abort()
    const destroy = () => current && lock !== undefined && destroyConnection(current.client)
    const timeout = setTimeout(destroy, CLOSE_TIMEOUT_MS)
    await running
    clearTimeout(timeout)
  }
  return { close }
}
