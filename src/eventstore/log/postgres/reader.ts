import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { int8s } from '../../postgres/arrays.ts'
import { failureText, isCancelled, isTransient } from '../../postgres/errors.ts'
import {
  LogChanged,
  LogUnavailable,
  type Position,
  type ReadOptions,
  type StoredRecord,
  type Revision,
} from '../log.ts'
import { decompressed } from './body.ts'
import { type StoredBody, type StoredRow, headAt, recordsOf, storedColumns } from './rows.ts'

/** A page ends before the row that would exceed these numbers of events or bytes. */
export const PAGE_EVENTS = 1_000
export const PAGE_BYTES = 2 * 1024 * 1024
const MAX_REVISION = 2n ** 62n

/** How many bytes the data of a row have in memory. */
const weight = 'coalesce(bytes, octet_length(body))'

// The inner query finds the end of the page from the sizes of the rows, before any data is fetched. One row always fits.
const pageOfAll = `
  select ${storedColumns} from log.appends a where a.last > $1 and a.last <= (
    select max(w.last) from (
      select r.last, sum(r.size) over o - r.size as events, sum(r.bytes) over o - r.bytes as before from (
        select last, size, ${weight} as bytes from log.appends where last > $1 order by last limit $2
      ) r window o as (order by r.last)
    ) w where w.events < $2 and w.before < ${PAGE_BYTES}
  ) order by a.last`

// By a range, as above: a join could compare every row of the stream with every row of the page. Backwards, the first row is
// the one with the revision.
export const pageOfStream = (direction: 'asc' | 'desc') => {
  const [from, to, last] = direction === 'asc' ? ['>=', '<=', 'max'] : ['<=', '>=', 'min']
  const start =
    direction === 'asc'
      ? '$2'
      : 'coalesce((select min(revision) from log.appends where stream = $1 and revision >= $2), $2)'
  return `
  select ${storedColumns} from log.appends a where a.stream = $1 and a.revision ${from} ${start} and a.revision ${to} (
    select ${last}(w.revision) from (
      select r.revision, sum(r.size) over o - r.size as events, sum(r.bytes) over o - r.bytes as before from (
        select revision, size, ${weight} as bytes from log.appends
        where stream = $1 and revision ${from} ${start} order by revision ${direction} limit $3
      ) r window o as (order by r.revision ${direction})
    ) w where w.events < $3 and w.before < ${PAGE_BYTES}
  ) order by a.revision ${direction}`
}

// Each revision is looked up by itself, because they may be anywhere in the stream, and of its row only the part of the event is
// fetched, but all that is compressed: with the first event of a row. Returns the places of events in their rows, from 1, and the bytes of
// their data.
const places = `
  select a.last, p.place, a.lengths[p.place] as length, a.compressed, k.revision
  from unnest($2::int8[]) k (revision) cross join lateral (
    select last, revision, size, lengths, case when bytes is null then 0 else octet_length(body) end as compressed
    from log.appends l where l.stream = $1 and l.revision >= k.revision order by l.revision limit 1
  ) a cross join lateral (select (k.revision - a.revision + a.size)::int4 as place) p where p.place > 0`

const pageOfRevisions = `
  select a.last - a.size + w.place as position, a.last, a.stream, w.revision, a.ids[w.place] as id, a.heads, w.place,
    a.bytes, w.length, w.skipped::int4,
    case when a.bytes is null then convert_from(substring(a.body from w.skipped::int4 + 1 for w.length), 'UTF8') end as data,
    case when a.bytes is not null and w."isFirst" then a.body end as body
  from (
    select f.*, sum(f.weight) over (order by f.revision) - f.weight as before, (
      select coalesce(sum(l), 0) from unnest((select lengths from log.appends r where r.last = f.last)[:f.place - 1]) l
    ) as skipped
    from (
      select p.*, p.length + case when p."isFirst" then p.compressed else 0 end as weight from (
        select *, lag(last) over (order by revision) is distinct from last as "isFirst" from (${places}) e
      ) p
    ) f
  ) w join log.appends a on a.last = w.last where w.before < ${PAGE_BYTES} order by w.revision`

/** One event of a row. */
type EventRow = Omit<StoredRecord, 'type' | 'metadata' | 'data'> &
  Pick<StoredRow, 'last' | 'heads'> & {
    readonly place: number
    /** Where its data are in those of the row, in bytes. */
    readonly skipped: number
    readonly length: number
  } & (Exclude<StoredBody, { body: Buffer }> | { readonly bytes: number; readonly body: Buffer | null })

/** How long a statement of the pool may take. */
export const STATEMENT_MS = 10_000
const TIMEOUT_MS = 1_000
const RETRY_MS = 20

/**
 * Runs a query, and retries it for a second: when the server restarts, every connection of the pool fails once. A statement that took too long
 * would take as long again.
 * @throws LogUnavailable
 */
export const queryWithRetry = async <Row extends pg.QueryResultRow>(pool: pg.Pool, query: pg.QueryConfig) => {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    try {
      return await pool.query<Row>(query)
    } catch (error) {
      if (error instanceof LogChanged || !isTransient(error)) throw error
      if (pool.ending || isCancelled(error) || performance.now() > deadline)
        throw new LogUnavailable(false, error, failureText('the log', error, STATEMENT_MS))
      await setTimeout(RETRY_MS)
    }
  }
}

/** Runs a query on the log. @throws LogUnavailable */
export type Query = <Row extends pg.QueryResultRow>(query: pg.QueryConfig) => Promise<pg.QueryResult<Row>>

/** Reads the log in pages of about 1,000 events and 2 MiB. A larger row is a page of its own. */
export const newReader = (query: Query) => {
  const records = async (name: string, text: string, values: unknown[]): Promise<StoredRecord[]> =>
    (await query<StoredRow>({ name, text, values })).rows.flatMap(recordsOf)

  /** A page of events after a position; empty at the end of the log. */
  const page = async (after: Position, limit = PAGE_EVENTS) => {
    const found = await records('log-page', pageOfAll, [after, Math.min(limit, PAGE_EVENTS)])
    return found.filter(({ position }) => position > after).slice(0, limit)
  }

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

  const pageForwards = async (stream: string, from: Revision, limit: number) => {
    const found = await records('log-stream', pageOfStream('asc'), [stream, from, limit])
    return found.filter(({ revision }) => revision >= from)
  }

  const pageBackwards = async (stream: string, from: Revision, limit: number) => {
    const [name, values] = ['log-stream-back', [stream, from, limit]]
    const { rows } = await query<StoredRow>({ name, text: pageOfStream('desc'), values })
    return rows.flatMap((row) => recordsOf(row).reverse()).filter(({ revision }) => revision <= from)
  }

  async function* read(stream: string, options: ReadOptions = {}) {
    const { backwards = false, from = backwards ? MAX_REVISION : 0n, limit = Number.POSITIVE_INFINITY } = options
    let [revision, left] = [from, limit]
    while (left > 0) {
      const events = await (backwards ? pageBackwards : pageForwards)(stream, revision, Math.min(left, PAGE_EVENTS))
      if (events.length === 0) return
      yield* events.length > left ? events.slice(0, left) : events
      revision = events.at(-1)!.revision + (backwards ? -1n : 1n)
      left -= events.length
    }
  }

  const recordsAt = (rows: readonly EventRow[]): StoredRecord[] => {
    let whole: Buffer | undefined // that of the row of the event
    const dataOf = (row: EventRow) => {
      if (row.bytes === null) return row.data
      if (row.body !== null) whole = decompressed(row.body, row.bytes, row.last)
      return whole!.toString('utf8', row.skipped, row.skipped + row.length)
    }
    return rows.map((row) => {
      const { id, stream, revision, position } = row
      return { id, stream, revision, position, ...headAt(row.heads, row.place - 1), data: dataOf(row) }
    })
  }

  async function* readRevisions(stream: string, revisions: readonly Revision[]) {
    for (let first = 0; first < revisions.length;) {
      const asked = revisions.slice(first, first + PAGE_EVENTS)
      const values = [stream, int8s([...asked])]
      const { rows } = await query<EventRow>({ name: 'log-stream-at', text: pageOfRevisions, values })
      yield* recordsAt(rows)
      const last = rows.at(-1)?.revision
      first += last === undefined ? asked.length : asked.findLastIndex((revision) => revision <= last) + 1
    }
  }

  return { page, readAll, read, readRevisions }
}
