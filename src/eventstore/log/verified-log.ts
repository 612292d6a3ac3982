import { pause } from '../../base/waits.ts'
import { type EventLog, LogUnavailable } from './log.ts'

/**
 * A log that can be used only after it was verified to be the right one. Until then it behaves like an unreachable log.
 */
export type VerifiedLog = EventLog & {
  /** Resolves when the first verification has ended, with any result. */
  readonly firstAttempt: Promise<void>
  /** Why it cannot be used; undefined if it can. */
  problem(): Error | undefined
}

type VerifiedLogOptions = {
  readonly log: EventLog
  /** Resolves to undefined for the right log, and to the reason for a wrong one. Rejects if the log cannot be reached. */
  readonly verify: () => Promise<Error | undefined>
  /** Called once if the log is the wrong one. */
  readonly refused: (reason: Error) => void
}

const RETRY_MS = 200
/** A wrong log is asked again, too: an operator may put the right one at the same address, which changes the log's identity. */
const REFUSED_RETRY_MS = 5_000
const TIMEOUT_MS = 2_000
const POLL_MS = 20

/** Verifies the log as soon as it can be reached. */
export const verifiedLog = ({ log, verify, refused }: VerifiedLogOptions): VerifiedLog => {
  const closing = new AbortController()
  let problem: Error | undefined = new LogUnavailable(false)
  let isRefused = false

  const attempt = async () => {
    problem = await verify()
    if (problem && !isRefused) refused(problem)
    isRefused = problem !== undefined
  }
  const firstAttempt = attempt().catch(() => {})
  const retryUntilVerified = async () => {
    for (await firstAttempt; problem && !closing.signal.aborted;) {
      await pause(isRefused ? REFUSED_RETRY_MS : RETRY_MS, closing.signal)
      if (!closing.signal.aborted) await attempt().catch(() => {})
    }
  }
  void retryUntilVerified()

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
