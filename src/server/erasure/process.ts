import { type Client, anchorOf } from '../../eventstore/engine/checkpoint.ts'
import type { Codec } from '../../eventstore/engine/codec.ts'
import { startLeaderProcess } from '../../eventstore/engine/leader-process.ts'
import type { OutageLog } from '../../eventstore/engine/outage.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { type Wakeup, newWakeup, pause } from '../../base/waits.ts'
import type { LeaderSession } from '../../eventstore/postgres/leader.ts'
import { resumePosition } from './checkpoint.ts'
import { type ErasedGroup, type ErasureContext, erase, haveAllPassed, reasonOf, sweepOrphanedRows } from './erase.ts'
import {
  type PendingErasure,
  addPending,
  deletePending,
  erasuresIn,
  postponePending,
  readPending,
  retryAtOnce,
} from './pending-erasures.ts'

type ErasureOptions = {
  readonly outage: OutageLog
  readonly url: string
  readonly log: EventLog
  readonly codec: Codec
  /** All groups of read models: before they all have applied a deletion, nothing is erased from the log. */
  readonly groups: readonly ErasedGroup[]
  /** Whether all events up to a position have their leaves in the audit tree. An event without a leaf is not erased. */
  readonly isCovered: (client: Client, position: bigint) => Promise<boolean>
  readonly logger: { info(data: object, message: string): void; error(data: object, message: string): void }
}

/** How long a statement waits for a locked row before the other streams have their turn. */
const ROW_LOCK_MS = 2_000
const POLL_MS = 1_000
/** After an outage other processes need time to lock the schemas that they use. */
const RELOCK_MS = 60_000
const LEAVES_POLL_MS = 50
/** How often the process looks for orphaned rows. No client waits for that. */
const SWEEP_INTERVAL_MS = 5_000
/** Without deletions the checkpoint is stored only after this many events, because storing it costs a commit. */
const CHECKPOINT_EVENTS = 5_000n

/**
 * Starts the process that erases deleted traces, and the past of others, from the read models and the log. A pending erasure is a row of
 * `tracebook.erasures`, so the process may be killed at any point. One node leads; its lock and its statements share one database session. A
 * former leader that continues does no harm: the checkpoint moves by compare-and-set, and only deleted content is erased.
 */
export const startErasure = (options: ErasureOptions) => {
  const { url, log, codec, groups, isCovered, logger } = options
  let lastReason = ''
  let lastOutage = Number.NEGATIVE_INFINITY
  const mayDropSchemas = () => performance.now() - lastOutage > RELOCK_MS

  const onLost = () => logger.error({}, 'the log has lost its end: reading deletions again from its beginning')

  /** Follows the log, and adds a pending erasure for each trace that was deleted or whose past was erased. */
  const followDeletions = async (client: Client, wakeup: Wakeup, signal: AbortSignal) => {
    const { epoch } = await log.identity()
    let from = await resumePosition(client, log, epoch, onLost)
    let anchor: ReturnType<typeof anchorOf>
    for await (const { events, through } of log.follow({ after: from, signal })) {
      anchor = anchorOf(events) ?? anchor
      const erasures = await erasuresIn(log, events)
      if (erasures.length === 0 && through - from < CHECKPOINT_EVENTS) continue
      await log.identity() // throws LogChanged if it is not what it was
      const hasMoved = await addPending(client, { from, through, epoch, anchor }, erasures)
      if (!hasMoved) throw new Error('another process has moved the checkpoint of erasure')
      from = through
      if (erasures.length > 0) wakeup.wake()
    }
  }

  /** Postpones one stream. Throws, and postpones nothing, if the log or the database cannot be reached. */
  const postpone = async (client: Client, pending: PendingErasure, error: unknown) => {
    await log.head()
    const reason = reasonOf(error)
    const { stream } = pending
    if (reason !== pending.reason) logger.error({ stream, reason }, 'a deleted trace cannot be erased yet')
    await postponePending(client, pending, reason)
  }

  /** Whether all events up to this position have their leaves. Waits up to a second. */
  const hasLeaves = async (client: Client, position: bigint, signal: AbortSignal): Promise<boolean> => {
    for (const until = performance.now() + POLL_MS; !(await isCovered(client, position));) {
      if (signal.aborted || performance.now() > until) return false
      await pause(LEAVES_POLL_MS, signal)
    }
    return true
  }

  const erasePending = async (context: ErasureContext) => {
    const { client, signal } = context
    for (const pending of await readPending(client)) {
      if (!(await haveAllPassed(groups, pending.position, POLL_MS))) return
      if (!(await hasLeaves(client, pending.position, signal))) return
      signal.throwIfAborted()
      try {
        await erase(context, pending)
      } catch (error) {
        signal.throwIfAborted()
        await postpone(client, pending, error)
        continue
      }
      await deletePending(client, pending)
      logger.info({ stream: pending.stream }, 'erased')
    }
  }

  const eraseUntilStopped = async (context: ErasureContext, wakeup: Wakeup) => {
    let sweptAt = Number.NEGATIVE_INFINITY
    while (!context.signal.aborted) {
      await erasePending(context)
      if (performance.now() - sweptAt > SWEEP_INTERVAL_MS) {
        await sweepOrphanedRows(context)
        sweptAt = performance.now()
      }
      lastReason = ''
      await wakeup.sleep(POLL_MS, context.signal)
    }
  }

  const work = async ({ client }: LeaderSession, led: AbortSignal) => {
    await client.query(`set lock_timeout = ${ROW_LOCK_MS}`)
    const end = new AbortController()
    const signal = AbortSignal.any([led, end.signal])
    const wakeup = newWakeup()
    await retryAtOnce(client)
    const context = { client, url, log, codec, groups, mayDropSchemas, signal }
    const loops = [followDeletions(client, wakeup, signal), eraseUntilStopped(context, wakeup)]
    const outcomes = await Promise.allSettled(loops.map((loop) => loop.finally(() => end.abort())))
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  const onFailure = ({ message: reason }: Error) => {
    if (reason === lastReason) return
    lastReason = reason
    logger.info({ reason }, 'the process of erasure failed and starts again')
  }

  const outage: OutageLog = {
    ...options.outage,
    failed: (part, error) => {
      lastOutage = performance.now()
      options.outage.failed(part, error)
    },
  }
  return startLeaderProcess({ url, name: 'erasure', lock: 'tracebook erasure', work, onFailure, outage })
}
