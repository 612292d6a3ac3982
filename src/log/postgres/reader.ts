import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { int8s } from '../../postgres/arrays.ts'
import { isTransient } from '../../postgres/errors.ts'
import { LogUnavailable, type Position, type ReadOptions, type StoredRecord, type Revision } from '../log.ts'

export const PAGE_EVENTS = 1_000
/** Each follower holds a page, and what it makes of it: with larger pages a few that are behind take 100 MB together. */
export const PAGE_BYTES = 2 * 1024 * 1024
const MAX_REVISION = 2n ** 62n

type Row = {
  position: bigint
  stream: string
  revision: bigint
  id: string
  type: string
  data: string
  metadata: string
}

const columns = 'e.position, e.stream, e.revision, e.id, e.type, e.data, e.metadata'

// The inner query decides from the sizes of the events how far a page goes, before any data is fetched. One event always fits.
const pageOfAll = `
  select ${columns} from log.events e where e.position > $1 and e.position <= (
    select max(w.position) from (
      select position, sum(bytes) over (order by position) - bytes as before
      from log.events where position > $1 order by position limit $2
    ) w where w.before < ${PAGE_BYTES}
  ) order by e.position`

// By a range, as above: a join of the two could compare every event of the stream with every one of the page.
export const pageOfStream = (direction: 'asc' | 'desc') => {
  const [from, to, last] = direction === 'asc' ? ['>=', '<=', 'max'] : ['<=', '>=', 'min']
  return `
  select ${columns} from log.events e where e.stream = $1 and e.revision ${from} $2 and e.revision ${to} (
    select ${last}(w.revision) from (
      select revision, sum(bytes) over (order by revision ${direction}) - bytes as before
      from log.events where stream = $1 and revision ${from} $2 order by revision ${direction} limit $3
    ) w where w.before < ${PAGE_BYTES}
  ) order by e.revision ${direction}`
}

// As above, of some revisions of a stream: each is looked up by itself, because they may lie anywhere in it.
export const pageOfRevisions = `
  select ${columns} from log.events e where e.stream = $1 and e.revision = any(array(
    select w.revision from (
      select r.revision, sum(r.bytes) over (order by r.revision) - r.bytes as before
      from unnest($2::int8[]) k (revision) cross join lateral (
        select revision, bytes from log.events l where l.stream = $1 and l.revision = k.revision limit 1
      ) r
    ) w where w.before < ${PAGE_BYTES}
  )) order by e.revision`

export type Reader = {
  /** A page of events behind a position; empty at the end of the log. */
  page(after: Position, limit?: number): Promise<StoredRecord[]>
  readAll(options: { after: Position; limit?: number }): AsyncIterable<StoredRecord>
  read(stream: string, options?: ReadOptions): AsyncIterable<StoredRecord>
  readRevisions(stream: string, revisions: readonly Revision[]): AsyncIterable<StoredRecord>
}

const TIMEOUT_MS = 1_000
const RETRY_MS = 20

/**
 * Runs a query, and retries it for a second: when the server restarts, every connection of the pool fails once.
 * @throws LogUnavailable
 */
export const queryWithRetry = async <Row extends pg.QueryResultRow>(pool: pg.Pool, query: pg.QueryConfig) => {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    try {
      return await pool.query<Row>(query)
    } catch (error) {
      if (!isTransient(error)) throw error
      if (pool.ending || performance.now() > deadline) throw new LogUnavailable(false, error)
      await setTimeout(RETRY_MS)
    }
  }
}

/** Reads the events table in pages of at most 1,000 events and 2 MiB; an event that is larger is a page of its own. */
export const newReader = (pool: pg.Pool): Reader => {
  const rows = async (name: string, text: string, values: unknown[]) =>
    (await queryWithRetry<Row>(pool, { name, text, values })).rows as StoredRecord[]

  const page = (after: Position, limit = PAGE_EVENTS) =>
    rows('log-page', pageOfAll, [after, Math.min(limit, PAGE_EVENTS)])

  async function* readAll({ after, limit = Number.POSITIVE_INFINITY }: { after: Position; limit?: number }) {
    let [position, left] = [after, limit]
    while (left > 0) {
      const events = await page(position, left)
      if (events.length === 0) return
      yield* events
      position = events.at(-1)!.position
      left -= events.length
    }
  }

  async function* read(stream: string, options: ReadOptions = {}) {
    const { backwards = false, from = backwards ? MAX_REVISION : 0n, limit = Number.POSITIVE_INFINITY } = options
    let [revision, left] = [from, limit]
    while (left > 0) {
      const events = await rows(
        backwards ? 'log-stream-back' : 'log-stream',
        pageOfStream(backwards ? 'desc' : 'asc'),
        [stream, revision, Math.min(left, PAGE_EVENTS)],
      )
      if (events.length === 0) return
      yield* events
      revision = events.at(-1)!.revision + (backwards ? -1n : 1n)
      left -= events.length
    }
  }

  async function* readRevisions(stream: string, revisions: readonly Revision[]) {
    for (let first = 0; first < revisions.length;) {
      const asked = revisions.slice(first, first + PAGE_EVENTS)
      const events = await rows('log-stream-at', pageOfRevisions, [stream, int8s([...asked])])
      yield* events
      const last = events.at(-1)?.revision
      first += last === undefined ? asked.length : asked.findLastIndex((revision) => revision <= last) + 1
    }
  }

  return { page, readAll, read, readRevisions }
}
