import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { Unavailable } from '../engine/rejected.ts'
import type { Refresh, Refreshed } from './refresh.ts'
import { SourceFailed } from './source.ts'

/** Keeps the registry fresh: at the start when it was never filled from this source, then daily. */
export type CatalogueOptions = {
  readonly pool: pg.Pool
  readonly source: string
  readonly refresh: Refresh
  readonly now: () => number
  readonly logger: { info(data: object, message: string): void; warn(data: object, message: string): void }
}

export type Catalogue = {
  /** Reads the source now, whatever its ETag. @throws Error when it cannot be read */
  refresh(): Promise<Refreshed>
  close(): Promise<void>
}

const DAY_MS = 24 * 60 * 60_000
/** After a fault of the source. */
const RETRY_MS = 60 * 60_000
/** After one of ours, as read models that are being built: doubled each time, for it may have cost the source a download. */
const SOON_MS = 1_000
const LONGEST_SOON_MS = 5 * 60_000
/** How long the others leave the source to whoever reads it. */
const LEASE_MS = 120_000
const LOOK_MS = 20_000

export const OFF = 'none'

/** What is noted of a source: which ETag it had, and who asks it next, when. */
const newNotes = (pool: pg.Pool, source: string, now: () => number) => ({
  /** The ETag of the last copy when it is time to ask again, and nobody else does; undefined when not. */
  claim: async (): Promise<{ etag: string | undefined } | undefined> => {
    const { rows } = await pool.query(
      `insert into tracebook.catalogues as c (source, next_at) values ($1, $2)
       on conflict (source) do update set next_at = excluded.next_at where c.next_at <= $3 returning etag`,
      [source, now() + LEASE_MS, now()],
    )
    return rows[0] && { etag: (rows[0].etag as string | null) ?? undefined }
  },
  filled: (etag: string | undefined) =>
    pool.query(
      `insert into tracebook.catalogues values ($1, $2, $3, $4) on conflict (source)
       do update set etag = excluded.etag, next_at = excluded.next_at, refreshed_at = excluded.refreshed_at`,
      [source, etag ?? null, now() + DAY_MS, now()],
    ),
  askAgainIn: (ms: number) =>
    pool.query('update tracebook.catalogues set next_at = $2 where source = $1', [source, now() + ms]),
})

/** Starts nothing with `isOn: false`; then only `refresh` does something. */
export const startCatalogue = (options: CatalogueOptions, isOn: boolean): Catalogue => {
  const { pool, source, refresh, now, logger } = options
  const notes = newNotes(pool, source, now)
  const stop = new AbortController()
  let isFailing = false
  let soon = 0 // how long to wait after the last try, when that failed through no fault of the source

  const fill = async (etag: string | undefined): Promise<Refreshed | 'same'> => {
    const refreshed = await refresh(source, etag, stop.signal)
    await notes.filled(refreshed === 'same' ? etag : refreshed.etag)
    return refreshed
  }

  const say = (isNews: boolean, error: Error, message: string) =>
    (isNews ? logger.warn : logger.info).call(logger, { source, reason: error.message }, message)

  /** The source is given an hour; what is ours, as long as `soon` says. */
  const failed = async (error: Error) => {
    if (!(error instanceof SourceFailed)) {
      soon = Math.min(soon ? 2 * soon : SOON_MS, LONGEST_SOON_MS)
      say(!(error instanceof Unavailable), error, 'the model registry cannot be filled yet')
      return notes.askAgainIn(0)
    }
    const rest = error.hasCopy ? 'the last good copy stays' : 'the registry stays empty until it can be'
    say(!isFailing, error, `the model catalogue cannot be read; ${rest}`)
    isFailing = true
    soon = 0
    return notes.askAgainIn(RETRY_MS)
  }

  const look = async () => {
    const due = await notes.claim()
    if (!due) return void (soon = 0)
    try {
      const refreshed = await fill(due.etag)
      isFailing = false
      soon = 0
      if (refreshed === 'same') return
      const { position: _, etag: __, ...figures } = refreshed
      logger.info(figures, 'the model registry is fresh')
    } catch (error) {
      if (!stop.signal.aborted) await failed(error as Error)
    }
  }

  const pause = (ms: number) => setTimeout(ms, undefined, { signal: stop.signal }).catch(() => {})

  const run = async () => {
    while (isOn && source !== OFF && !stop.signal.aborted) {
      await look().catch(() => {}) // the database is away, and says so elsewhere
      await pause(soon || LOOK_MS)
    }
  }

  const running = run()
  return {
    refresh: async () => (await fill(undefined)) as Refreshed,
    close: async () => {
      stop.abort()
      await running
    },
  }
}
