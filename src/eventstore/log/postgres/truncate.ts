import type pg from 'pg'
import { opensAppend } from '../chunks.ts'
import type { Anchor, Revision } from '../log.ts'
import { queryWithRetry } from './reader.ts'
import { type NewRow, type StoredRow, headAt, idAt, newRow, recordsOf, storedColumns } from './rows.ts'

/** How many events one statement deletes, unless a single append has more. */
const STEP = 2_000
const PAGE_ROWS = 200

/** The row of an event, and those before it, in descending order. */
const page = `
  select revision, size, heads from log.appends
  where stream = $1 and revision <= (select min(revision) from log.appends where stream = $1 and revision >= $2)
  order by revision desc limit ${PAGE_ROWS}`

const lastRevision = 'select max(revision) as revision from log.appends where stream = $1'

const rowAt = `
  select ${storedColumns} from log.appends a where a.stream = $1 and a.revision >= $2 order by a.revision limit 1`

// Of the row that ends at the revision $10, the last $4 events stay. The event for which the others go has the id $8 and the position $9.
const remove = `
  with held as (select where $8::uuid is null or $8 = (${idAt('$9::int8')})), cut as (
    update log.appends a set size = $4, ids = a.ids[a.size - $4 + 1 :], lengths = a.lengths[a.size - $4 + 1 :],
      heads = $5::json, bytes = $6::int4, body = $7::bytea
    where exists (select from held) and a.stream = $1 and a.revision = $10::int8 and a.size > $4::int4
  )
  delete from log.appends where stream = $1 and revision >= $3 and revision < $2 and exists (select from held)`

type Row = { readonly revision: Revision; readonly size: number; readonly heads: string }

const firstOf = ({ revision, size }: Row): Revision => revision - BigInt(size) + 1n

const opens = ({ heads }: Row): boolean => opensAppend({ ...headAt(heads, 0), id: '', data: '' })

/** What one statement deletes: the events from a revision on. `cuts` says whether the last row is cut, because some of its events stay. */
type Step = { readonly from: Revision; readonly cuts: boolean }

/** The last appends below `end` that are deleted at once; undefined if the stream has no event there. */
const nextStep = async (pool: pg.Pool, stream: string, end: Revision): Promise<Step | undefined> => {
  let from: Revision | undefined
  let lowest: Revision | undefined
  let cuts = false
  for (;;) {
    const below = lowest ?? end
    const values = [stream, below - 1n]
    const { rows } = await queryWithRetry<Row>(pool, { name: 'log-truncate-page', text: page, values })
    for (const row of rows.filter((row) => firstOf(row) < below)) {
      const first = firstOf(row)
      if (from !== undefined && end - first > STEP) return { from, cuts }
      if (row.revision >= end) cuts = true
      lowest = first
      if (opens(row)) from = first
    }
    // If no append is opened, the stream begins in the middle of one, whose beginning was erased.
    if (rows.length < PAGE_ROWS) return lowest === undefined ? undefined : { from: lowest, cuts }
  }
}

/** A row without its first events, to be stored again, and the revision of its last one. */
type Rest = NewRow & { readonly revision: Revision }

/** The row that holds the event at a revision, without the events before it. */
const restOfRow = async (pool: pg.Pool, stream: string, from: Revision): Promise<Rest | undefined> => {
  const query = { name: 'log-truncate-cut', text: rowAt, values: [stream, from] }
  const { rows } = await queryWithRetry<StoredRow>(pool, query)
  const [row] = rows
  if (!row) return undefined
  const rest = recordsOf(row).filter(({ revision }) => revision >= from)
  return { ...(await newRow(rest)), revision: row.revision }
}

/**
 * Deletes the events of a stream below a revision, but never its last one. Deletes whole appends from the end, so that a kill leaves the
 * beginning of the stream and the events after the truncated ones. Each statement checks that the log holds `held`: it may be sent again
 * to a database that was restored meanwhile.
 */
export const truncateStream = async (pool: pg.Pool, stream: string, before: Revision, held?: Anchor): Promise<void> => {
  const query = { name: 'log-truncate-last', text: lastRevision, values: [stream] }
  const last = (await queryWithRetry<{ revision: Revision | null }>(pool, query)).rows[0]!.revision
  if (last === null) return
  for (let end = before < last ? before : last; ;) {
    const step = await nextStep(pool, stream, end)
    if (!step) return
    const rest = step.cuts ? await restOfRow(pool, stream, end) : undefined
    const { count, heads, bytes, body, revision }: Partial<Rest> = rest ?? {}
    const values = [stream, end, step.from, count, heads, bytes, body, held?.id, held?.position, revision]
    await queryWithRetry(pool, { name: 'log-truncate', text: remove, values })
    end = step.from
  }
}
