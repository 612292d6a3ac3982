import { type JobHelpers, Logger, type WorkerPool, runMigrations, runTaskList } from 'graphile-worker'
import pg from 'pg'
import { cut } from '../postgres/connect.ts'
import { AGAIN } from './presence.ts'
import { type Payload, TASK } from './rows.ts'

/** What a job's run is told: whether it is the last one that it gets. */
export type Attempt = { readonly isLast: boolean; readonly signal: AbortSignal }

export type JobsOptions = {
  readonly url: string
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

const CONNECTIONS = 3
const POLL_MS = 500
const PATIENCE_MS = 1_000

/** Job runners parse their own values: this pool has the driver's defaults. */
const newJobPool = (url: string) => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'tracebook jobs',
    max: CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  })
  const clients = new Set<pg.PoolClient>()
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    clients.add(client)
    client.on('error', () => {})
    client.on('end', () => clients.delete(client))
  })
  const close = async () => {
    const impatient = setTimeout(() => clients.forEach((client) => cut(client as unknown as pg.Client)), 500)
    await pool.end().catch(() => {})
    clearTimeout(impatient)
  }
  return { pool, close }
}

const within = (work: Promise<unknown>, ms: number) => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  return Promise.race([work.catch(() => {}), late]).finally(() => clearTimeout(timer))
}

/** Starts the job runner on a small pool of its own; it takes no job before it is opened. */
export const startJobs = async ({ url, concurrency, run, logger }: JobsOptions): Promise<Jobs> => {
  const { pool, close: closePool } = newJobPool(url)
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
    logger: new Logger(() => (level, message, meta) => logger.debug({ level, ...metaOf(meta) }, message)),
  }
  let runner: WorkerPool
  try {
    await runMigrations({ pgPool: pool, logger: options.logger })
    runner = runTaskList(options, { [TASK]: task }, pool)
  } catch (error) {
    await closePool()
    throw error
  }
  const ended = runner.promise.catch(() => {})
  const close = async () => {
    stop.abort()
    open()
    await within(Promise.resolve(runner.gracefulShutdown()), PATIENCE_MS)
    if (cutShort.length > 0) await within(pool.query(AGAIN, [cutShort]), PATIENCE_MS)
    await closePool()
  }
  return { id: runner.id, open, ended, close }
}

/** Errors and jobs in full are too much for a log line. */
const metaOf = (meta: object | undefined) => {
  const { job } = (meta ?? {}) as { job?: { id?: string } }
  return job ? { job: job.id } : {}
}
