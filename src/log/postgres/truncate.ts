import type pg from 'pg'
import { opensAppend } from '../chunks.ts'
import type { Anchor, Revision } from '../log.ts'
import { queryWithRetry } from './reader.ts'
import { headAt, headsWithoutFirst, idAt } from './rows.ts'

/** How many events one statement deletes, unless a single append has more. */
const STEP = 2_000
const PAGE_ROWS = 200

/** The row of an event, and those before it, in descending order. */
const page = `
  select revision, size, heads from log.appends
  where stream = $1 and revision <= (select min(revision) from log.appends where stream = $1 and revision >= $2)
  order by revision desc limit ${PAGE_ROWS}`

const lastRevision = 'select max(revision) as revision from log.appends where stream = $1'

// A row of which the end stays is cut; $4 is the text of its new heads. The event for which the others go has the id $5 and the position $6.
const remove = `
  with held as (select where $5::uuid is null or $5 = (${idAt('$6::int8')})), cut as (
    update log.appends a set size = k.size, ids = a.ids[a.size - k.size + 1 :], heads = $4::json,
      lengths = a.lengths[a.size - k.size + 1 :],
      data = substring(a.data from (select sum(l)::int4 from unnest(a.lengths[: a.size - k.size]) l) + 1)
    from (select revision, (revision - $2 + 1)::int4 as size from log.appends where stream = $1 and revision >= $2 order by revision limit 1) k
    where $4::text is not null and exists (select from held) and a.stream = $1 and a.revision = k.revision
  )
  delete from log.appends where stream = $1 and revision >= $3 and revision < $2 and exists (select from held)`

type Row = { readonly revision: Revision; readonly size: number; readonly heads: string }

const firstOf = ({ revision, size }: Row): Revision => revision - BigInt(size) + 1n

const opens = ({ heads }: Row): boolean => opensAppend({ ...headAt(heads, 0), id: '', data: '' })

/** What one statement deletes: the events from a revision on. `heads` is for the row of which the end stays, if there is one. */
type Step = { readonly from: Revision; readonly heads: string | null }

/** The last appends below `end` that are deleted at once; undefined if the stream has no event there. */
const nextStep = async (pool: pg.Pool, stream: string, end: Revision): Promise<Step | undefined> => {
  let from: Revision | undefined
  let lowest: Revision | undefined
  let heads: string | null = null
  for (;;) {
    const below = lowest ?? end
    const values = [stream, below - 1n]
    const { rows } = await queryWithRetry<Row>(pool, { name: 'log-truncate-page', text: page, values })
    for (const row of rows.filter((row) => firstOf(row) < below)) {
      const first = firstOf(row)
      if (from !== undefined && end - first > STEP) return { from, heads }
      if (row.revision >= end) heads = headsWithoutFirst(row.heads, Number(end - first))
      lowest = first
      if (opens(row)) from = first
    }
    // If no append is opened, the stream begins in the middle of one, whose beginning was erased.
    if (rows.length < PAGE_ROWS) return lowest === undefined ? undefined : { from: lowest, heads }
  }
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
    const values = [stream, end, step.from, step.heads, held?.id ?? null, held?.position ?? null]
    await queryWithRetry(pool, { name: 'log-truncate', text: remove, values })
    end = step.from
  }
}
