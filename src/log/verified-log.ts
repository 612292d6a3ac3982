import { pause } from '../base/waits.ts'
import { type EventLog, LogUnavailable } from './log.ts'

/**
 * A log that can be used only after it was verified to be the right one; until then it behaves like a log that cannot be
 * reached. When its epoch changes, another log may answer at the same address, so it is verified again.
 */
export type VerifiedLog = EventLog & {
  /** Resolves when the first verification has ended, with whatever result. */
  readonly firstAttempt: Promise<void>
  /** Why it cannot be used, or undefined when it can. */
  problem(): Error | undefined
}

export type VerifiedLogOptions = {
  readonly log: EventLog
  /** Resolves to undefined for the right log, to the reason for a wrong one; rejects when the log cannot be reached. */
  readonly verify: () => Promise<Error | undefined>
  /** Called once when the log turns out to be the wrong one. */
  readonly refused: (reason: Error) => void
}

const RETRY_MS = 200
/** Also a refused log is tried again: an operator may put the right one behind the same address. */
const REFUSED_RETRY_MS = 5_000
const TIMEOUT_MS = 2_000
const POLL_MS = 20

/** Verifies the log as soon as it can be reached. */
export const verifiedLog = ({ log, verify, refused }: VerifiedLogOptions): VerifiedLog => {
  const closing = new AbortController()
  let problem: Error | undefined = new LogUnavailable(false)
  let isRefused = false

  let changes = 0

  const attempt = async () => {
    const before = changes
    const reason = await verify()
    if (before !== changes) return // the log that was verified may not be the one that answers now
    problem = reason
    if (reason && !isRefused) refused(reason)
    isRefused = reason !== undefined
  }
  const firstAttempt = attempt().catch(() => {})
  let isRetrying = false
  const retryUntilVerified = async () => {
    if (isRetrying) return
    isRetrying = true
    for (await firstAttempt; problem && !closing.signal.aborted;) {
      await pause(isRefused ? REFUSED_RETRY_MS : RETRY_MS, closing.signal)
      if (!closing.signal.aborted) await attempt().catch(() => {})
    }
    isRetrying = false
  }
  void retryUntilVerified()
  log.onChange(() => {
    changes += 1
    problem ??= new LogUnavailable(false)
    void retryUntilVerified()
  })

  const assertVerified = () => {
    if (problem) throw new LogUnavailable(false, problem, problem.message)
  }
  /** Waits before it throws, as an unreachable log does, so that callers do not retry without a pause. */
  const untilVerified = async () => {
    const end = performance.now() + TIMEOUT_MS
    while (problem && !closing.signal.aborted && performance.now() < end) await pause(POLL_MS, closing.signal)
    assertVerified()
  }

  const { append, read, readRevisions, readAll, truncate, head, identity, holds } = log
  async function* follow(options: Parameters<EventLog['follow']>[0]) {
    const end = AbortSignal.any([options.signal, closing.signal])
    while (problem && !end.aborted) await pause(POLL_MS, end)
    if (!end.aborted) yield* log.follow(options)
  }
  return {
    ...log,
    append: async (...parameters) => (assertVerified(), append(...parameters)),
    read: (...parameters) => (assertVerified(), read(...parameters)),
    readRevisions: (...parameters) => (assertVerified(), readRevisions(...parameters)),
    readAll: (...parameters) => (assertVerified(), readAll(...parameters)),
    truncate: async (...parameters) => (await untilVerified(), truncate(...parameters)),
    head: async () => (await untilVerified(), head()),
    identity: async () => (await untilVerified(), identity()),
    holds: async (...parameters) => (await untilVerified(), holds(...parameters)),
    follow,
    close: () => (closing.abort(), log.close()),
    firstAttempt,
    problem: () => problem,
  }
}
