import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { type EventLog, LogChanged } from '../log/log.ts'
import { cut, hangUp, newApplyingClient, newClient } from '../postgres/connect.ts'
import { type Leader, openLeader } from '../postgres/leader.ts'
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
import { ensureSchema, finishSchema, locks, holdUseLock } from './schema.ts'
import { newSchemaCleanup } from './schema-cleanup.ts'

const RECONNECT_MS = 150
const PRUNE_EVERY = 500

/** What the runner is doing. Once `stopped` it does nothing more: an operator has to look. */
export type RunnerState =
  | { readonly is: 'starting' | 'standby' | 'running' | 'disconnected' }
  | { readonly is: 'rebuilding'; readonly from: bigint; readonly position: bigint; readonly head: bigint }
  | { readonly is: 'stopped'; readonly reason: string }

type Log = { info(data: object, message: string): void; error(data: object, message: string): void }

/** Of another epoch of the log: until it is known better, the read models may show what the log no longer holds. */
const unproven: RunnerState = { is: 'rebuilding', from: 0n, position: 0n, head: 1n }

export type RunnerOptions = {
  readonly url: string
  readonly group: Group
  readonly log: EventLog
  readonly codec: Codec
  /** How far this group has come, as this node knows. */
  readonly watermark: Watermark
  readonly quarantine: Quarantine
  readonly logger: Log
  readonly outage: OutageLog
  readonly observe?: (events: number, ms: number) => void
}

export type Runner = { state(): RunnerState; close(): Promise<void> }

/** What a runner that leads knows: where it stands and where the log ended when it began. */
type Progress = {
  readonly from: bigint
  at: bigint
  finished: boolean
  readonly goal: bigint
  /** How often the log had changed when it began. */
  readonly since: number
  batches: number
  pruned: bigint
}

/**
 * The runner of one group: leads on the session that runs its transactions, so that another process takes over when it
 * dies or freezes. A stream whose event cannot be applied goes into quarantine; too many of them stop it loudly.
 */
export const startRunner = (options: RunnerOptions): Runner => {
  const { url, group, log, codec, watermark, quarantine, logger, outage, observe } = options
  const schema = schemaOf(group)
  const part = `projections of ${group.name}`
  const stop = new AbortController()
  const cleanup = newSchemaCleanup({ url, group, logger })
  let changes = 0 // of the log: what was applied before one says nothing of positions since
  log.onChange(() => (changes += 1))
  let state: RunnerState = { is: 'starting' }
  let current: Leader | undefined

  let said = ''
  const say = (news: string) => {
    if (news !== said) logger.info({ schema }, news)
    said = news
  }

  const pause = (ms: number) => sleep(ms, undefined, { signal: stop.signal }).catch(() => {})

  /** Read models that have seen what the log no longer holds are built anew, beside those that serve meanwhile. */
  const startOver = async () => {
    logger.error({ schema }, 'the log has lost its end: read models that have seen more are built anew')
    const progress = (position: bigint, head: bigint) => {
      state = { is: 'rebuilding', from: 0n, position, head }
    }
    progress(0n, await log.head())
    await rebuild({ url, group, log, codec, progress, upTo: 'head', signal: stop.signal })
  }

  const newProgress = async ({ position: at, ready }: Checkpoint, since: number): Promise<Progress> => {
    if (since !== changes) throw new LogChanged()
    watermark.reset(ready ? at : 0n)
    return { from: at, at, finished: ready, goal: await log.head(), since, batches: 0, pruned: -1n }
  }

  const show = (progress: Progress) => {
    const { from, at, finished, goal, since } = progress
    state = finished ? { is: 'running' } : { is: 'rebuilding', from, position: at, head: goal }
    if (finished && since === changes) watermark.advance(at)
  }

  /** At the head of the moment when it began a new schema gets its indexes, and may serve. */
  const finish = async (client: pg.Client, progress: Progress) => {
    if (!progress.finished && progress.at >= progress.goal) {
      await finishSchema(client, group, schema)
      progress.finished = true
    }
    show(progress)
  }

  const applyBatch = async (client: pg.Client, follower: BatchApplier, progress: Progress, batch: Batch) => {
    const started = performance.now()
    const from = progress.at
    await follower.apply(batch.events, from, batch.through)
    progress.at = batch.through
    observe?.(batch.events.length, performance.now() - started)
    quarantine.set(follower.quarantine())
    await finish(client, progress)
    if (++progress.batches % PRUNE_EVERY > 0) return
    await client.query(prune(progress.pruned, from))
    progress.pruned = from - 1n
  }

  const lead = async ({ client, lost }: Leader): Promise<void> => {
    const since = changes
    const checkpoint = await ensureSchema(client, group, schema)
    const { epoch } = await log.identity()
    if (await isAheadOfLog(log, checkpoint)) return startOver()
    const progress = await newProgress(checkpoint, since)
    outage.recovered(part)
    say('this process keeps the read models')
    const target = { client, group, schema }
    const report = (culprit: object) => logger.error(culprit, 'an event cannot be applied: its stream is in quarantine')
    const applier = await newBatchApplier({ target, log, codec, epoch, report })
    quarantine.set(applier.quarantine())
    await finish(client, progress)
    const signal = AbortSignal.any([stop.signal, lost])
    for await (const batch of log.follow({ after: progress.at, signal })) {
      if (since !== changes) throw new LogChanged() // it may have begun to follow after that
      if (batch.through !== progress.at) await applyBatch(client, applier, progress, batch)
      else if (progress.finished) cleanup.run()
    }
    lost.throwIfAborted()
  }

  const once = async () => {
    const leader = await openLeader(url, newApplyingClient(url, schema))
    current = leader
    try {
      await holdUseLock(leader.client, schema)
      const waits = () => {
        say('another process keeps the read models: this one stands by')
        state = { is: 'standby' }
        outage.recovered(part)
      }
      // A crash takes the last transactions along: they have to be applied again, also when nothing new comes.
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
          return tellStop(url, schema)
        }
        state = error instanceof LogChanged ? unproven : { is: 'disconnected' }
        cleanup.postpone()
        if (isOutage(error)) outage.failed(part, error)
        else say(`projections begin again: ${(error as Error).message}`)
        await pause(RECONNECT_MS)
      }
    }
  }

  const running = run()
  const close = async () => {
    stop.abort()
    const patience = setTimeout(() => current && cut(current.client), 2_000)
    await Promise.all([running, cleanup.close()])
    clearTimeout(patience)
  }
  return { state: () => state, close }
}

type Batch = { readonly events: Parameters<BatchApplier['apply']>[0]; readonly through: bigint }

const explain = (error: unknown): string =>
  error instanceof UnknownEvent || error instanceof TooManyQuarantined ? error.message : 'an event cannot be applied'

/** Reads of all nodes go on from where the read models stay; without the note they would wait for more. */
const tellStop = async (url: string, schema: string) => {
  const client = newClient(url, 'projections stopped', 5_000)
  client.on('error', () => {})
  await client
    .connect()
    .then(() => recordStop(client, schema))
    .catch(() => {})
  await hangUp(client)
}
