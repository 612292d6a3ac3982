import { type JobHelpers, Logger, runMigrations, runTaskList, type WorkerPool } from 'graphile-worker'
import pg from 'pg'
import { ifLate, pause } from '../../base/waits.ts'
import { withTimeout } from '../../eventstore/engine/rejected.ts'
import { Connection, connectionConfig, destroyConnection } from '../../eventstore/postgres/connect.ts'
import { type Payload, TASK } from './process-state.ts'
import { indexLockedJobs, rescheduleStatement } from './worker-liveness.ts'

const CLOSE_TIMEOUT_MS = 500

type Done = Parameters<pg.Pool['connect']>[0]

/**
 * A pool whose connections may be released twice. The job runner does this if it is stopped before it knows whether it is
 * listening. The driver would throw an error that nobody catches, which would end the process.
 */
class LenientPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(done: Done): void
  override connect(done?: Done): Promise<pg.PoolClient> | void {
    if (!done) return super.connect()
    super.connect((error, client, release) => {
      if (!client) return done(error, client, release)
      let isReleased = false
      const releaseOnce: typeof release = (reason) => {
        if (isReleased) return
        isReleased = true
        release(reason)
      }
      done(error, client, releaseOnce)
    })
  }
}

/** The job runner's connections, with the driver's own type parsers, as the runner expects. */
export const newJobPool = (url: string, connections: number): { pool: pg.Pool; close(): Promise<void> } => {
  const pool = new LenientPool({ ...connectionConfig(url, 'jobs'), Client: Connection, max: connections })
  const clients = new Set<pg.PoolClient>()
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('end', () => clients.delete(client))
  })
  const close = async () => {
    const cutAll = () => clients.forEach((client) => destroyConnection(client as unknown as pg.Client))
    await ifLate(CLOSE_TIMEOUT_MS, cutAll, pool.end()).catch(() => {})
  }
  return { pool, close }
}

/** One run of a job. `isLast`: if it fails, it is not tried again. */
export type Attempt = { readonly isLast: boolean; readonly signal: AbortSignal }

export type JobRunnerOptions = {
  readonly url: string
  /** One of them is only used to listen. */
  readonly connections: number
  readonly concurrency: number
  readonly run: (payload: Payload, attempt: Attempt) => Promise<void>
  readonly logger: { debug(data: object, message: string): void }
}

export type JobRunner = {
  /** The name with which this process locks jobs. */
  readonly id: string
  /** Starts to take jobs. Called once the liveness lock is held. */
  open(): void
  /** Resolves when the runner has stopped, also after an error. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

const POLL_MS = 500
const STOP_TIMEOUT_MS = 1_000
const RESCHEDULE_RETRY_MS = 20
/** The job store's own search for jobs that are locked for hours reads all jobs. `worker-liveness.ts` finds them within seconds. */
const STALE_LOCK_SWEEP_MS = 60 * 60_000

/** Reschedules jobs that the stop has interrupted. Tries again while the runner is still storing their failures. */
const rescheduleInterrupted = async (pool: pg.Pool, ids: readonly string[]) => {
  for (let left = new Set(ids); left.size > 0 && !pool.ending; await pause(RESCHEDULE_RETRY_MS)) {
    const { rows } = await pool.query<{ id: string }>(rescheduleStatement, [[...left]])
    left = left.difference(new Set(rows.map(({ id }) => id)))
  }
}

const SLOW = 'the job runner did not stop in time'
const withinStopTimeout = (work: PromiseLike<unknown> | unknown) =>
  withTimeout(STOP_TIMEOUT_MS, SLOW, Promise.resolve(work)).catch(() => {})

/** Starts the job runner on its own small pool. It takes no job before `open` is called. */
export const startJobRunner = async ({
  url,
  connections,
  concurrency,
  run,
  logger,
}: JobRunnerOptions): Promise<JobRunner> => {
  const { pool, close: closePool } = newJobPool(url, connections)
  const stop = new AbortController()
  let open = () => {}
  const opened = new Promise<null>((resolve) => (open = () => resolve(null)))
  const interrupted: string[] = []
  const task = async (payload: unknown, { job }: JobHelpers) => {
    try {
      await run(payload as Payload, { isLast: job.attempts >= job.max_attempts, signal: stop.signal })
    } catch (error) {
      if (stop.signal.aborted) interrupted.push(job.id)
      throw error
    }
  }
  const options = {
    pollInterval: POLL_MS,
    concurrency,
    noHandleSignals: true,
    forbiddenFlags: () => opened, // the runner waits for this before every query for a job
    // Outcomes are stored with retries only in batches. Without batches a lost connection would be an unhandled rejection.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    minResetLockedInterval: STALE_LOCK_SWEEP_MS,
    maxResetLockedInterval: 2 * STALE_LOCK_SWEEP_MS,
    logger: new Logger(() => (level, message, meta) => logger.debug({ level, ...metaOf(meta) }, message)),
  }
  let runner: WorkerPool
  try {
    await runMigrations({ pgPool: pool, logger: options.logger })
    await indexLockedJobs(pool).catch((error: Error) =>
      logger.debug({ reason: error.message }, 'the index of locked jobs cannot be created'),
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
    await withinStopTimeout(runner.gracefulShutdown())
    await withinStopTimeout(rescheduleInterrupted(pool, interrupted))
    await closePool()
  }
  return { id: runner.id, open, ended, close }
}

/** Only the id of the job: whole errors and jobs are too long for a log line. */
const metaOf = (meta: object | undefined) => {
  const { job } = (meta ?? {}) as { job?: { id?: string } }
  return job ? { job: job.id } : {}
}
