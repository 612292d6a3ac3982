import type { ReadTables } from '../../tables/main.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause, type Wakeup } from '../../base/waits.ts'
import { startLeaderProcess } from '../../eventstore/engine/leader-process.ts'
import type { OutageLog } from '../../eventstore/engine/outage.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { InQuarantine, Rejected, Unavailable } from '../../eventstore/engine/rejected.ts'
import type { Transactor } from '../../eventstore/engine/transact.ts'
import type { Namespace } from '../namespace/decide.ts'
import type { NamespaceEvent } from '../namespace/events.ts'
import type { ExpectedRevision } from '../../eventstore/log/log.ts'
import type { LeaderSession } from '../../eventstore/postgres/leader.ts'
import { removeUnchanged } from '../trace/decide.ts'
import type { TraceNeed, TraceState } from '../trace/state.ts'
import type { TraceEvent } from '../trace/events.ts'
import { type After, dueBefore, expiredTraces, namespacesWithRetention, START } from './expired-traces.ts'
import type { ExpiringTraces } from './expiring-traces.ts'

export type ExpireOptions = {
  readonly namespaces: Pick<Transactor<Namespace, NamespaceEvent>, 'read'>
  readonly traces: Pick<Transactor<TraceState, TraceEvent, TraceNeed>, 'transact'>
  readonly expiring: Pick<ExpiringTraces, 'add' | 'remove'>
  /** @throws Unavailable while the service takes no writes */
  readonly assertWritable: () => void
  /** The clock, in milliseconds. */
  readonly now: () => number
}

/** The position of the deletion; `'stays'`: the trace has changed since, is gone, or cannot be read; `'off'`: the namespace has no retention. */
type ExpireOutcome = { readonly position: bigint } | 'stays' | 'off'

/** The number of days in the namespace's retention, from the log, because read models may lag behind it. */
const retentionDays = ({ namespaces }: ExpireOptions, id: string): Promise<number | undefined> =>
  namespaces.read(id, (state) => (state.is === 'present' ? state.retentionDays : undefined))

/** The revision of a trace, and the command that deletes it at no other. */
const revisionOf = async ({ traces }: ExpireOptions, traceId: string): Promise<ExpectedRevision> => {
  let found: ExpectedRevision = 'none'
  const checkRevision = (_: TraceState, revision: ExpectedRevision) => void (found = revision)
  await traces.transact(traceId, { decide: () => [], answer: () => undefined, checkRevision }, {})
  return found
}

/** Deletes a trace at a revision if it has not changed since `due`. */
const removeAt = async ({ traces }: ExpireOptions, traceId: string, revision: ExpectedRevision, due: number) => {
  const checkRevision = (_: TraceState, actual: ExpectedRevision) => {
    if (actual !== revision) throw new Rejected('changed')
  }
  const command = {
    decide: removeUnchanged(due),
    answer: (_: TraceState, { length }: readonly unknown[]) => length > 0,
  }
  try {
    return await traces.transact(traceId, { ...command, checkRevision }, {})
  } catch (error) {
    if (error instanceof Rejected && error.code === 'changed') return { answer: false, position: 0n }
    throw error
  }
}

const decideAndRemove = async (
  options: ExpireOptions,
  namespaceId: string,
  traceId: string,
): Promise<ExpireOutcome> => {
  const revision = await revisionOf(options, traceId)
  const days = await retentionDays(options, namespaceId)
  if (days === undefined) return 'off'
  const { answer, position } = await removeAt(options, traceId, revision, dueBefore(options.now(), days))
  return answer ? { position } : 'stays'
}

/**
 * Deletes a trace that has not changed for as many days as its namespace keeps traces. The event has no actor, because the
 * service itself deletes. The trace is entered as expiring first, then its revision is read, then the retention: if that is changed afterwards,
 * `newKeepTraces` finds the trace, and takes the revision away.
 * @throws Unavailable; InQuarantine
 */
export const expire = async (options: ExpireOptions, namespaceId: string, traceId: string): Promise<ExpireOutcome> => {
  const { expiring, assertWritable } = options
  assertWritable()
  await expiring.add(namespaceId, traceId)
  try {
    const outcome = await decideAndRemove(options, namespaceId, traceId)
    await expiring.remove(namespaceId, traceId)
    return outcome
  } catch (error) {
    const mayBeStored = error instanceof Unavailable && error.stored !== false
    if (!mayBeStored) await expiring.remove(namespaceId, traceId)
    throw error
  }
}

/** Like `expire`, but leaves a stream in quarantine as it is. */
export const expireUnlessQuarantined = (
  options: ExpireOptions,
  namespaceId: string,
  traceId: string,
): Promise<ExpireOutcome> =>
  expire(options, namespaceId, traceId).catch((error: unknown) => {
    if (error instanceof InQuarantine) return 'stays'
    throw error
  })

type RetentionOptions = ExpireOptions & {
  readonly url: string
  readonly reads: Reads<ReadTables>
  /** Resolves when the read models have applied a position, by default the last one that this node has seen. @throws Unavailable */
  readonly caughtUp: (position?: bigint) => Promise<void>
  /** Takes back what moves have left that have died. @throws Unavailable */
  readonly withdrawStale: () => Promise<void>
  /** How many deleted traces have not been erased yet. */
  readonly pendingErasures: () => Promise<number>
  /** Why this node's clock cannot be trusted; undefined if it can. */
  readonly clockProblem: () => Promise<string | undefined>
  /** Woken when the retention of a namespace has changed. */
  readonly wakeup: Wakeup
  /** How long to sleep when no trace was due, in milliseconds. Default: a minute. */
  readonly pollMs?: number
  readonly outage: OutageLog
  readonly logger: Pick<MinimalLogger, 'info' | 'warn'>
}

const POLL_MS = 60_000
const RETRY_MS = 2_000
/** How many traces are deleted at a time. There is a limit so that other work gets its turn, such as erasures that clients wait for. */
const CHUNK = 20
const ERASURE_WAIT_MS = 10_000
const ERASURE_POLL_MS = 50

/**
 * Deletes traces that have not changed for as long as their namespace keeps them, by the same decision and event as a DELETE;
 * erasure follows. One node leads. It may be killed at any point, because the next one finds the same traces. A former leader
 * that continues does no harm: a decision deletes only a trace that is due at that moment.
 */
export const startRetention = (options: RetentionOptions) => {
  const { url, reads, caughtUp, withdrawStale, pendingErasures, clockProblem, wakeup, now, outage, logger } = options
  const { pollMs = POLL_MS } = options
  let lastClockProblem: string | undefined

  /** Deletes the due traces of one chunk. Returns how many, and where the next chunk begins, undefined after the last one. */
  const expireChunk = async (namespace: { id: string; days: number }, after: After, signal: AbortSignal) => {
    const since = dueBefore(now(), namespace.days)
    const found = await expiredTraces(reads, namespace.id, since, after, CHUNK)
    let deleted = 0
    let reached = 0n
    for (const { id } of found) {
      signal.throwIfAborted()
      const outcome = await expireUnlessQuarantined(options, namespace.id, id)
      if (outcome === 'off') return { deleted, next: undefined }
      if (outcome === 'stays') continue
      deleted += 1
      reached = outcome.position
    }
    await caughtUp(reached)
    return { deleted, next: found.length < CHUNK ? undefined : found.at(-1) }
  }

  /** Waits until the deleted traces are erased, so that an erasure for a client never waits for very many others. */
  const untilErased = async (signal: AbortSignal) => {
    const deadline = performance.now() + ERASURE_WAIT_MS
    while ((await pendingErasures()) > 0 && performance.now() < deadline && !signal.aborted)
      await pause(ERASURE_POLL_MS, signal)
  }

  const expireNamespace = async (namespace: { id: string; days: number }, signal: AbortSignal) => {
    let total = 0
    let after: After | undefined = START
    while (after && !signal.aborted && !(await isClockWrong())) {
      const started = performance.now()
      const { deleted, next }: Awaited<ReturnType<typeof expireChunk>> = await expireChunk(namespace, after, signal)
      total += deleted
      after = next
      if (deleted === 0) continue
      await untilErased(signal)
      await pause(performance.now() - started, signal) // at most half of the time, so that others are not held up
    }
    if (total > 0) logger.info({ namespace: namespace.id, traces: total }, 'deleted traces by retention')
  }

  /** With a clock that is ahead, retention would delete traces too early. */
  const isClockWrong = async (): Promise<boolean> => {
    const problem = await clockProblem()
    if (problem && !lastClockProblem)
      logger.warn({ reason: problem }, 'retention deletes nothing while the clock is wrong')
    lastClockProblem = problem
    return problem !== undefined
  }

  const expireAll = async (signal: AbortSignal) => {
    await caughtUp()
    await withdrawStale()
    for await (const namespace of namespacesWithRetention(reads)) {
      signal.throwIfAborted()
      await expireNamespace(namespace, signal)
    }
  }

  const expireUntilStopped = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const isDone = await expireAll(signal).then(
        () => true,
        (error: unknown) => {
          if (signal.aborted || error instanceof Unavailable) return false // an outage is logged elsewhere
          throw error
        },
      )
      await wakeup.sleep(isDone ? pollMs : Math.min(RETRY_MS, pollMs), signal)
    }
  }

  const onFailure = (error: Error) => {
    logger.warn({ reason: error.message }, 'retention failed and starts again')
    return RETRY_MS
  }

  const work = (_: LeaderSession, signal: AbortSignal) => expireUntilStopped(signal)
  return startLeaderProcess({ url, name: 'retention', lock: 'tracebook retention', work, onFailure, outage })
}
