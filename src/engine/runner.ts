import type pg from 'pg'
import { type EventLog, LogChanged } from '../log/log.ts'
import type { MinimalLogger } from '../logger.ts'
import { pause } from '../pause.ts'
import { destroyConnection, closeConnection, newApplyingClient, newClient } from '../postgres/connect.ts'
import { type LeaderSession, openLeaderSession } from '../postgres/leader.ts'
import { type Checkpoint, recordStop, prune } from './checkpoint.ts'
import { type Codec, UnknownEvent } from './codec.ts'
import { isOutage, isRetryable } from './retryable-errors.ts'
import { type BatchApplier, TooManyQuarantined, newBatchApplier } from './batch-applier.ts'
import { type Group, schemaOf } from './group.ts'
import type { Watermark } from './watermark.ts'
import type { OutageLog } from './outage.ts'
import type { Quarantine } from './quarantine.ts'
import { rebuild } from './rebuild.ts'
import { isAheadOfLog } from './same-log.ts'
import { newSchemaCleanup } from './schema-cleanup.ts'
import { ensureSchema, finishSchema, locks, holdUseLock } from './schema.ts'

const RECONNECT_MS = 150
const PRUNE_EVERY = 500 // batches
const CLOSE_MS = 2_000
const REST_MS = 50
const REST_STEP_MS = 5
const MANY_EVENTS = 500

/** What the runner is doing. A `stopped` runner stays stopped until an operator has mended the cause and restarts it. */
export type RunnerState =
  | { readonly is: 'starting' | 'standby' | 'running' | 'disconnected' }
  | { readonly is: 'rebuilding'; readonly from: bigint; readonly position: bigint; readonly head: bigint }
  | { readonly is: 'stopped'; readonly reason: string }

/**
 * The state after the log has begun another epoch, until the checkpoint is compared with it: the read models may hold events that
 * the log has lost. Positions of the old epoch say nothing now, so 0 of 1 means not caught up.
 */
const unverified: RunnerState = { is: 'rebuilding', from: 0n, position: 0n, head: 1n }

export type RunnerOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** Moved here: the position of this group's read models. */
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  readonly logger: Pick<MinimalLogger, 'info' | 'error'>
  readonly outage: OutageLog
  readonly observe?: (events: number, ms: number) => void
}

export type Runner = { state(): RunnerState; close(): Promise<void> }

/** The progress of a runner that leads. */
type Progress = {
  /** The checkpoint when it began to lead. */
  readonly from: bigint
  /** The checkpoint now. */
  at: bigint
  /** Whether the schema serves. */
  finished: boolean
  /** The log's head when it began to lead: there a new schema gets its indexes. */
  readonly goal: bigint
  /** How often the log's epoch had changed when it began to lead. */
  readonly changes: number
  batches: number
  /** Steps of the checkpoint behind this position have not been pruned. */
  pruned: bigint
}

/**
 * Runs the projections of one group while this process leads, and stands by otherwise. The session that holds the lease
 * also runs the transactions, so that another process takes over when this one dies or freezes. A stream with an event
 * that cannot be applied goes into quarantine; too many of them stop the runner, with an error in the log.
 */
export const startRunner = (options: RunnerOptions): Runner => {
  const { url, group, log, codec, watermark, quarantine, logger, outage, observe } = options
  const schema = schemaOf(group)
  const part = `projections of ${group.name}`
  const stop = new AbortController()
  const cleanup = newSchemaCleanup({ url, group, logger })
  let changes = 0 // of the log's epoch: positions of an earlier epoch may belong to other events
  log.onChange(() => (changes += 1))
  let state: RunnerState = { is: 'starting' }
  let current: LeaderSession | undefined

  let lastMessage = ''
  const logOnce = (message: string) => {
    if (message !== lastMessage) logger.info({ schema }, message)
    lastMessage = message
  }

  /** Rebuilds read models that hold events which the log has lost; the present ones serve meanwhile. */
  const startOver = async () => {
    logger.error({ schema }, 'the log has lost its end: read models that have seen more are built anew')
    const progress = (position: bigint, head: bigint) => {
      state = { is: 'rebuilding', from: 0n, position, head }
    }
    progress(0n, await log.head())
    await rebuild({ url, group, log, codec, progress, upTo: 'head', signal: stop.signal })
  }

  const newProgress = async ({ position: at, ready }: Checkpoint, before: number): Promise<Progress> => {
    if (before !== changes) throw new LogChanged()
    watermark.reset(ready ? at : 0n)
    return { from: at, at, finished: ready, goal: await log.head(), changes: before, batches: 0, pruned: -1n }
  }

  const publish = (progress: Progress) => {
    const { from, at, finished, goal } = progress
    state = finished ? { is: 'running' } : { is: 'rebuilding', from, position: at, head: goal }
    if (finished && progress.changes === changes) watermark.advance(at)
  }

  /** A new schema that has reached its goal gets its indexes, and may serve. */
  const finish = async (client: pg.Client, progress: Progress) => {
    if (!progress.finished && progress.at >= progress.goal) {
      await finishSchema(client, group, schema)
      progress.finished = true
    }
    publish(progress)
  }

  const applyBatch = async (client: pg.Client, applier: BatchApplier, progress: Progress, batch: Batch) => {
    const started = performance.now()
    const from = progress.at
    await applier.apply(batch.events, from, batch.through)
    progress.at = batch.through
    observe?.(batch.events.length, performance.now() - started)
    quarantine.set(applier.quarantine())
    await finish(client, progress)
    if (++progress.batches % PRUNE_EVERY > 0) return
    await client.query(prune(progress.pruned, from))
    progress.pruned = from - 1n
  }

  /** Lets what comes meanwhile be one batch, unless a read waits for this one's successor or the log is far ahead. */
  const rest = async (batch: Batch) => {
    if (batch.events.length >= MANY_EVENTS) return
    for (let ms = 0; ms < REST_MS && !watermark.hasWaiters() && !stop.signal.aborted; ms += REST_STEP_MS)
      await pause(REST_STEP_MS, stop.signal)
  }

  const lead = async ({ client, lost }: LeaderSession): Promise<void> => {
    const before = changes
    const checkpoint = await ensureSchema(client, group, schema)
    const { epoch } = await log.identity()
    if (await isAheadOfLog(log, checkpoint)) return startOver()
    const progress = await newProgress(checkpoint, before)
    outage.recovered(part)
    logOnce('this process keeps the read models')
    const target = { client, group, schema }
    const report = (culprit: object) => logger.error(culprit, 'an event cannot be applied: its stream is in quarantine')
    const applier = await newBatchApplier({ target, log, codec, epoch, report })
    quarantine.set(applier.quarantine())
    await finish(client, progress)
    const signal = AbortSignal.any([stop.signal, lost])
    for await (const batch of log.follow({ after: progress.at, signal })) {
      if (before !== changes) throw new LogChanged() // `follow` may have begun in the new epoch, and so not have thrown
      if (batch.through !== progress.at) await applyBatch(client, applier, progress, batch)
      else if (progress.finished) cleanup.run()
      if (group.isLazy && batch.events.length > 0) await rest(batch)
    }
    lost.throwIfAborted()
  }

  const once = async () => {
    const leader = await openLeaderSession(url, newApplyingClient(url, schema))
    current = leader
    try {
      await holdUseLock(leader.client, schema)
      const waits = () => {
        logOnce('another process keeps the read models: this one stands by')
        state = { is: 'standby' }
        outage.recovered(part)
      }
      // After a crash of PostgreSQL a leader applies the transactions that were undone, even if no new events come.
      if (await leader.acquire(locks.runner(schema), stop.signal, waits)) await lead(leader)
    } finally {
      current = undefined
      await leader.close()
    }
  }

  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        await once()
      } catch (error) {
        if (stop.signal.aborted) return
        if (!isRetryable(error)) {
          state = { is: 'stopped', reason: explain(error) }
          logger.error({ err: error }, 'projections stopped')
          outage.recovered(part)
          return publishStop(url, schema)
        }
        state = error instanceof LogChanged ? unverified : { is: 'disconnected' }
        cleanup.postpone()
        if (isOutage(error)) outage.failed(part, error)
        else logOnce(`projections begin again: ${(error as Error).message}`)
        await pause(RECONNECT_MS, stop.signal)
      }
    }
  }

  const running = run()
  const close = async () => {
    stop.abort()
    const timeout = setTimeout(() => current && destroyConnection(current.client), CLOSE_MS)
    await Promise.all([running, cleanup.close()])
    clearTimeout(timeout)
  }
  return { state: () => state, close }
}

type Batch = { readonly events: Parameters<BatchApplier['apply']>[0]; readonly through: bigint }

const explain = (error: unknown): string =>
  error instanceof UnknownEvent || error instanceof TooManyQuarantined ? error.message : 'an event cannot be applied'

/** Lets the reads of all nodes know that the checkpoint will not move: they would wait for it after a crash. */
const publishStop = async (url: string, schema: string) => {
  const client = newClient(url, 'projections stopped', 5_000)
  client.on('error', () => {})
  await client
    .connect()
    .then(() => recordStop(client, schema))
    .catch(() => {})
  await closeConnection(client)
}
