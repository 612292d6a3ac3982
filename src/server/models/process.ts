import type pg from 'pg'
import { Unavailable } from '../../eventstore/engine/rejected.ts'
import { LogUnavailable } from '../../eventstore/log/log.ts'
import type { MinimalLogger } from '../../base/logger.ts'
import { pause } from '../../base/waits.ts'
import type { Refresh, RefreshResult } from './refresh.ts'
import { NO_CATALOGUE } from './settings.ts'
import { SourceFailed } from './source.ts'

/** Refreshes the registry from its source: at the start if that was never done, then daily. */
type CatalogueOptions = {
  readonly pool: pg.Pool
  readonly source: string
  /** Resolves when the registry has its first catalogue. */
  readonly filled: Promise<void>
  readonly refresh: Refresh
  readonly now: () => number
  readonly logger: Pick<MinimalLogger, 'info' | 'warn'>
}

const DAY_MS = 24 * 60 * 60_000
/** The delay after a failure of the source. */
const RETRY_MS = 60 * 60_000
/**
 * The first and the longest delay after another failure, such as read models that are being built. It doubles each time,
 * because a try may have downloaded the catalogue.
 */
const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 5 * 60_000
/** How long other nodes wait for the one that is refreshing. */
const LEASE_MS = 120_000
const POLL_MS = 20_000

/** The stored schedule of a source, which all nodes share: its last ETag, and when it is due next. */
const newSchedule = (pool: pg.Pool, source: string, now: () => number) => ({
  /** Claims a refresh that is due, and returns the last ETag; undefined when none is due or another node has claimed it. */
  claim: async (): Promise<{ etag: string | undefined } | undefined> => {
    const { rows } = await pool.query(
      `insert into tracebook.catalogues as c (source, next_at) values ($1, $2)
       on conflict (source) do update set next_at = excluded.next_at where c.next_at <= $3 returning etag`,
      [source, now() + LEASE_MS, now()],
    )
    return rows[0] && { etag: (rows[0].etag as string | null) ?? undefined }
  },
  recordRefresh: (etag: string | undefined) =>
    pool.query(
      `insert into tracebook.catalogues values ($1, $2, $3, $4) on conflict (source)
       do update set etag = excluded.etag, next_at = excluded.next_at, refreshed_at = excluded.refreshed_at`,
      [source, etag ?? null, now() + DAY_MS, now()],
    ),
  retryIn: (ms: number) =>
    pool.query('update tracebook.catalogues set next_at = $2 where source = $1', [source, now() + ms]),
})

const isAway = (error: Error) => error instanceof Unavailable || error instanceof LogUnavailable

/** Starts the process. With `isOn: false` there are no scheduled refreshes, only those by `refresh`. */
export const startCatalogueProcess = (options: CatalogueOptions, isOn: boolean) => {
  const { pool, source, filled, refresh, now, logger } = options
  const schedule = newSchedule(pool, source, now)
  const stop = new AbortController()
  let isFailing = false
  let backoffMs = 0 // 0 unless the last try failed for another reason than the source

  const refreshNow = async (etag: string | undefined): Promise<RefreshResult | 'same'> => {
    const refreshed = await refresh(source, etag, stop.signal)
    await schedule.recordRefresh(refreshed === 'same' ? etag : refreshed.etag)
    return refreshed
  }

  const logFailure = (isNew: boolean, error: Error, message: string) =>
    (isNew ? logger.warn : logger.info).call(logger, { source, reason: error.message }, message)

  /** Schedules the next try: in an hour after a failure of the source, else after `backoffMs`. */
  const handleFailure = async (error: Error) => {
    if (!(error instanceof SourceFailed)) {
      backoffMs = Math.min(backoffMs ? 2 * backoffMs : FIRST_BACKOFF_MS, MAX_BACKOFF_MS)
      logFailure(!isAway(error), error, 'the model registry cannot be refreshed yet')
      return schedule.retryIn(0)
    }
    logFailure(!isFailing, error, 'the model catalogue cannot be read; the last good copy stays')
    isFailing = true
    backoffMs = 0
    return schedule.retryIn(RETRY_MS)
  }

  const refreshIfDue = async () => {
    const due = await schedule.claim()
    if (!due) return void (backoffMs = 0)
    try {
      const refreshed = await refreshNow(due.etag)
      isFailing = false
      backoffMs = 0
      if (refreshed === 'same') return
      const { position: _, etag: __, ...figures } = refreshed
      logger.info(figures, 'the model registry is fresh')
    } catch (error) {
      if (!stop.signal.aborted) await handleFailure(error as Error)
    }
  }

  const run = async () => {
    await filled
    while (isOn && source !== NO_CATALOGUE && !stop.signal.aborted) {
      await refreshIfDue().catch(() => {}) // the database cannot be reached, which others log
      await pause(backoffMs || POLL_MS, stop.signal)
    }
  }

  const running = run()
  return {
    /** Refreshes now, also when the source has not changed. @throws SourceFailed, Unavailable */
    refresh: async () => (await refreshNow(undefined)) as RefreshResult,
    close: async () => {
      stop.abort()
      await running
    },
  }
}

export type CatalogueProcess = ReturnType<typeof startCatalogueProcess>
