import { setTimeout } from 'node:timers/promises'
import { type EventLog, LogUnavailable } from './log.ts'

/**
 * A log that nobody uses before it is known to be the right one: until then it behaves as one that is away. Where another
 * one serves behind the same address all of a sudden, it has to be proven again.
 */
export type ProvenLog = EventLog & {
  /** Resolves when the first attempt to prove it has ended, however it did. */
  readonly tried: Promise<void>
  /** Why it is not used, or undefined when it is. */
  problem(): Error | undefined
}

export type ProvenLogOptions = {
  readonly log: EventLog
  /** Gives the reason when it is the wrong log; rejects while that cannot be told. */
  readonly prove: () => Promise<Error | undefined>
  /** Told once of a log that is the wrong one. */
  readonly refused: (reason: Error) => void
}

const RETRY_MS = 200
/** A wrong log may be put right behind the same address. */
const REFUSED_RETRY_MS = 5_000
const PATIENCE_MS = 2_000
const LOOK_MS = 20

/** Proves a log as soon as it can be asked, and again and again until then. */
export const provenLog = ({ log, prove, refused }: ProvenLogOptions): ProvenLog => {
  const closing = new AbortController()
  let problem: Error | undefined = new LogUnavailable(false)
  let isRefused = false

  const pause = (ms: number, signal = closing.signal) => setTimeout(ms, undefined, { signal }).catch(() => {})

  let changes = 0

  const attempt = async () => {
    const since = changes
    const reason = await prove()
    if (since !== changes) return // it may have been another log that was proven
    problem = reason
    if (reason && !isRefused) refused(reason)
    isRefused = reason !== undefined
  }
  const tried = attempt().catch(() => {})
  let isProving = false
  const proving = async () => {
    if (isProving) return
    isProving = true
    for (await tried; problem && !closing.signal.aborted;) {
      await pause(isRefused ? REFUSED_RETRY_MS : RETRY_MS)
      if (!closing.signal.aborted) await attempt().catch(() => {})
    }
    isProving = false
  }
  void proving()
  log.onChange(() => {
    changes += 1
    problem ??= new LogUnavailable(false)
    void proving()
  })

  const assertProven = () => {
    if (problem) throw new LogUnavailable(false, problem, problem.message)
  }
  /** Those that would only try again are answered as late as by a log that is away. */
  const proven = async () => {
    const end = performance.now() + PATIENCE_MS
    while (problem && !closing.signal.aborted && performance.now() < end) await pause(LOOK_MS)
    assertProven()
  }

  const { append, read, readAll, truncate, head, identity, holds } = log
  async function* follow(options: Parameters<EventLog['follow']>[0]) {
    const end = AbortSignal.any([options.signal, closing.signal])
    while (problem && !end.aborted) await pause(LOOK_MS, end)
    if (!end.aborted) yield* log.follow(options)
  }
  return {
    ...log,
    append: async (...given) => (assertProven(), append(...given)),
    read: (...given) => (assertProven(), read(...given)),
    readAll: (...given) => (assertProven(), readAll(...given)),
    truncate: async (...given) => (await proven(), truncate(...given)),
    head: async () => (await proven(), head()),
    identity: async () => (await proven(), identity()),
    holds: async (...given) => (await proven(), holds(...given)),
    follow,
    close: () => (closing.abort(), log.close()),
    tried,
    problem: () => problem,
  }
}
