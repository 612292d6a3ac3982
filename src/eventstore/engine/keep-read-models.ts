import type pg from 'pg'
import type { Batch, EventLog } from '../log/log.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import type { LeaderSession } from '../postgres/leader.ts'
import { type BatchApplier, newBatchApplier } from './batch-applier.ts'
import { type Checkpoint, prune } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import type { Group } from './group.ts'
import type { Quarantine } from './quarantine.ts'
import { rebuild } from './rebuild.ts'
import { isAheadOfLog } from './same-log.ts'
import { ensureSchema, finishSchema } from './schema.ts'
import type { SchemaCleanup } from './schema-cleanup.ts'
import { newUpkeep } from './upkeep.ts'
import type { Watermark } from './watermark.ts'
import { workBetween } from './work-between.ts'

/** After how many batches the steps of the checkpoint are pruned. */
const PRUNE_EVERY = 500
/** How long a lazy group rests after a batch with fewer than `MANY_EVENTS` events. */
const REST_MS = 50
const MANY_EVENTS = 500
/** How often a rest looks whether a read waits. */
const REST_STEP_MS = 5

/** The event loop counts as busy if it works for more than this share of the time. */
const BUSY = 0.8
/** On a busy event loop a deferred group rests so many times as long as its batch took, but at most for `MOST_REST_MS`. */
const REST_TIMES = 9
const MOST_REST_MS = 1_000
/** A rest is over earlier if in its first so many milliseconds, or later, the event loop has worked for no more than this share of them. */
const QUIET = 0.5
const SEEN_MS = 60

/** What a process does with its read models. A build has the position where it began, the one it has reached, and its goal (`head`). */
export type KeepingState =
  | { readonly is: 'running' }
  | { readonly is: 'rebuilding'; readonly from: bigint; readonly position: bigint; readonly head: bigint }

export type KeepOptions = {
  readonly url: string
  readonly group: Group
  readonly schema: string
  readonly log: EventLog
  readonly codec: Codec
  /** The position of this group's read models; moved here. */
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  readonly logger: Pick<MinimalLogger, 'error'>
  /** Called after each batch; `ms` is how long it took. */
  readonly observe?: ((events: number, ms: number) => void) | undefined
  /** Drops schemas that no process uses any more. */
  readonly cleanup: Pick<SchemaCleanup, 'run'>
  /** Whether the disk has room for so many bytes. Default: always. */
  readonly hasRoom?: ((bytes: number) => boolean) | undefined
  /** Called before the first batch, once it is verified that the read models belong to the log. */
  readonly begun: () => void
  readonly publish: (state: KeepingState) => void
  readonly signal: AbortSignal
}

/** The progress of a process since it began to lead. */
type Progress = {
  /** The checkpoint when it began to lead. */
  readonly from: bigint
  /** The checkpoint now. */
  position: bigint
  /** Whether the schema may be queried. */
  finished: boolean
  /** The log's head when it began to lead. There a new schema gets its indexes. */
  readonly goal: bigint
  batches: number
  /** Steps of the checkpoint after this position have not been pruned. */
  pruned: bigint
}

/** Rebuilds read models with events that the log has lost. Queries use the old ones meanwhile. */
const startOver = async (options: KeepOptions) => {
  const { url, group, schema, log, codec, logger, publish, signal } = options
  logger.error({ schema }, 'the log has lost its end: read models with lost events are rebuilt')
  const progress = (position: bigint, head: bigint) => publish({ is: 'rebuilding', from: 0n, position, head })
  progress(0n, await log.head())
  await rebuild({ url, group, log, codec, progress, upTo: 'head', signal })
}

/** A process that leads: its session, its progress, and its applier of batches. */
type Lead = KeepOptions & {
  readonly client: pg.Client
  readonly progress: Progress
  readonly applier: BatchApplier
  readonly upkeep: Pick<ReturnType<typeof newUpkeep>, 'run'>
}

const newProgress = async ({ log, watermark }: KeepOptions, { position, ready }: Checkpoint): Promise<Progress> => {
  watermark.reset(ready ? position : 0n)
  return { from: position, position, finished: ready, goal: await log.head(), batches: 0, pruned: -1n }
}

/** Creates the indexes of a new schema that has reached its goal, and has no work left; then it may be queried. */
const finish = async ({ group, schema, watermark, publish, client, progress, applier, signal }: Lead) => {
  while (!progress.finished && (await applier.workOff())) signal.throwIfAborted()
  if (!progress.finished && progress.position >= progress.goal) {
    await finishSchema(client, group, schema)
    progress.finished = true
  }
  const { from, position, finished, goal } = progress
  publish(finished ? { is: 'running' } : { is: 'rebuilding', from, position, head: goal })
  if (finished) watermark.advance(position)
}

const applyBatch = async (lead: Lead, { events, through }: Batch) => {
  const { client, progress, applier, quarantine, observe } = lead
  const started = performance.now()
  const from = progress.position
  await applier.apply(events, from, through)
  progress.position = through
  observe?.(events.length, performance.now() - started)
  quarantine.set(applier.quarantine())
  await finish(lead)
  if (++progress.batches % PRUNE_EVERY > 0) return
  await client.query(prune(progress.pruned, from))
  progress.pruned = from - 1n
}

/**
 * How many milliseconds to rest after a batch. A lazy group rests shortly, so that the next events become one batch, but not if the log is far
 * ahead; a deferred group rests longer while requests need the time.
 * @param events the number of events in the batch
 * @param ms how long the batch took
 * @param busy the share of the time since the batch before in which the event loop worked
 */
export const restMs = (
  group: Pick<Group, 'isLazy' | 'isDeferred'>,
  events: number,
  ms: number,
  busy: number,
): number => {
  if (group.isDeferred && busy > BUSY) return Math.min(ms * REST_TIMES, MOST_REST_MS)
  return group.isLazy && events > 0 && events < MANY_EVENTS ? REST_MS : 0
}

type Rest = (events: number, ms: number, isOver?: () => boolean) => Promise<void>

/**
 * Rests after a batch, or after a portion of the work that batches have left (then with no events), unless a read waits for this group. The batch itself
 * keeps the event loop busy: whether others do as well is seen during the rest. A rest that is over early is made up for by the next.
 */
const newRest = ({ group, watermark, signal }: KeepOptions): Rest => {
  let utilization = performance.eventLoopUtilization()
  let worked = 0
  return async (events, ms, isOver = () => false) => {
    const [before, now] = [utilization, performance.eventLoopUtilization()]
    utilization = now
    worked += ms
    const began = performance.now()
    const least = restMs(group, events, worked, performance.eventLoopUtilization(now, before).utilization)
    const isEnough = () => {
      const rested = performance.now() - began
      const isQuiet = () => performance.eventLoopUtilization(now).utilization <= QUIET
      return rested >= least || (rested >= SEEN_MS && isQuiet())
    }
    while (!isEnough() && !isOver() && !watermark.hasWaiters() && !signal.aborted) await pause(REST_STEP_MS, signal)
    if (!isOver()) worked = 0
  }
}

/** Does a portion of the work that batches have left, and rests until a batch has come. Returns false if none was left: then upkeep may begin. */
const workOff = async (
  { applier, quarantine, progress, upkeep }: Lead,
  rest: Rest,
  hasBatch: () => boolean,
): Promise<boolean> => {
  const started = performance.now()
  const hasWorked = await applier.workOff()
  quarantine.set(applier.quarantine())
  if (hasWorked) await rest(0, performance.now() - started, hasBatch)
  else if (progress.finished) await upkeep.run()
  return hasWorked
}

/**
 * Applies the log to the read models of one group, from their checkpoint on, until the session is lost or `signal` aborts. If they
 * hold events that the log has lost, rebuilds them instead.
 * @throws SessionLost, LogChanged, TooManyQuarantined, and errors of the log and the database
 */
export const keepReadModels = async (options: KeepOptions, { client, lost }: LeaderSession): Promise<void> => {
  const { url, group, schema, log, codec, quarantine, logger, cleanup, begun } = options
  const checkpoint = await ensureSchema(client, group, schema)
  const { epoch } = await log.identity()
  if (await isAheadOfLog(log, checkpoint)) return startOver(options)
  const progress = await newProgress(options, checkpoint)
  begun()
  const target = { client, group, schema }
  const report = (culprit: object) => logger.error(culprit, 'an event cannot be applied: its stream is in quarantine')
  const applier = await newBatchApplier({ target, log, codec, epoch, report })
  const upkeep = newUpkeep({ url, hasRoom: options.hasRoom ?? (() => true), logger, ...target })
  const lead: Lead = { ...options, client, progress, applier, upkeep }
  quarantine.set(applier.quarantine())
  await finish(lead)
  const signal = AbortSignal.any([options.signal, lost])
  const rest = newRest(options)
  const follow = (ended: AbortSignal) =>
    log.follow({ after: progress.position, signal: AbortSignal.any([signal, ended]) })
  try {
    for await (const batch of workBetween(follow, (hasBatch) => workOff(lead, rest, hasBatch))) {
      const started = performance.now()
      if (batch.through !== progress.position) await applyBatch(lead, batch)
      const ms = performance.now() - started
      if (progress.finished) cleanup.run() // after each batch: on a busy service the log's end may never be reached
      await rest(batch.events.length, ms)
    }
  } finally {
    await upkeep.close()
  }
  lost.throwIfAborted()
}
