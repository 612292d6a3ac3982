import { setTimeout } from 'node:timers/promises'
import { type JobHelpers, Logger, type WorkerPool, runMigrations, runTaskList } from 'graphile-worker'
import type pg from 'pg'
import { withTimeout } from '../engine/with-timeout.ts'
import { newJobPool } from './job-pool.ts'
import { AGAIN, indexLockedJobs } from './worker-liveness.ts'
import { type Payload, TASK } from './rows.ts'

/** What a job's run is told: whether it is the last one that it gets. */
export type Attempt = { readonly isLast: boolean; readonly signal: AbortSignal }

export type JobsOptions = {
  readonly url: string
  /** One of them only listens. */
  readonly connections: number
  readonly concurrency: number
  readonly run: (payload: Payload, attempt: Attempt) => Promise<void>
  readonly logger: { debug(data: object, message: string): void }
}

export type Jobs = {
  /** The name under which this process locks jobs. */
  readonly id: string
  /** Lets it take jobs: from now on others can tell that it is alive. */
  open(): void
  /** Rejects or resolves when it has stopped by itself. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

const POLL_MS = 500
const PATIENCE_MS = 1_000
const GIVE_BACK_MS = 20
/** The job store's own look at jobs that were locked for hours reads all jobs; ours finds them within seconds. */
const STALE_LOOK_MS = 60 * 60_000

/** Runs that the stop has cut short do not count; the runner may still be noting down that they failed. */
const giveBack = async (pool: pg.Pool, ids: readonly string[]) => {
  for (let left = new Set(ids); left.size > 0 && !pool.ending; await setTimeout(GIVE_BACK_MS)) {
    const { rows } = await pool.query<{ id: string }>(AGAIN, [[...left]])
    left = left.difference(new Set(rows.map(({ id }) => id)))
  }
}

const SLOW = 'the job runner takes too long to stop'
const briefly = (work: PromiseLike<unknown> | unknown) =>
  withTimeout(PATIENCE_MS, SLOW, Promise.resolve(work)).catch(() => {})

/** Starts the job runner on a small pool of its own; it takes no job before it is opened. */
export const startJobs = async ({ url, connections, concurrency, run, logger }: JobsOptions): Promise<Jobs> => {
  const { pool, close: closePool } = newJobPool(url, connections)
  const stop = new AbortController()
  let open = () => {}
  const opened = new Promise<null>((resolve) => (open = () => resolve(null)))
  const cutShort: string[] = []
  const task = async (payload: unknown, { job }: JobHelpers) => {
    try {
      await run(payload as Payload, { isLast: job.attempts >= job.max_attempts, signal: stop.signal })
    } catch (error) {
      if (stop.signal.aborted) cutShort.push(job.id)
      throw error
    }
  }
  const options = {
    pollInterval: POLL_MS,
    concurrency,
    noHandleSignals: true,
    forbiddenFlags: () => opened, // asked for before every look for a job
    // Only in batches are outcomes noted with retries; one by one, a lost connection would be nobody's rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    minResetLockedInterval: STALE_LOOK_MS,
    maxResetLockedInterval: 2 * STALE_LOOK_MS,
    logger: new Logger(() => (level, message, meta) => logger.debug({ level, ...metaOf(meta) }, message)),
  }
  let runner: WorkerPool
  try {
    await runMigrations({ pgPool: pool, logger: options.logger })
    await indexLockedJobs(pool).catch((error: Error) =>
      logger.debug({ reason: error.message }, 'locked jobs lack an index'),
    )
    runner = runTaskList(options, { [TASK]: task }, pool)
  } catch (error) {
    await closePool()
    throw error
  }
  const ended = runner.promise.catch(() => {})
  const close = async () => {
    stop.abort()
    open()
    await briefly(runner.gracefulShutdown())
    await briefly(giveBack(pool, cutShort))
    await closePool()
  }
  return { id: runner.id, open, ended, close }
}

/** Errors and jobs in full are too much for a log line. */
const metaOf = (meta: object | undefined) => {
  const { job } = (meta ?? {}) as { job?: { id?: string } }
  return job ? { job: job.id } : {}
}
