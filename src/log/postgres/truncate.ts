import type pg from 'pg'
import { opensAppend } from '../chunks.ts'
import type { NewEvent, Revision } from '../log.ts'
import { queryWithRetry } from './reader.ts'

/** One statement deletes so many records, unless an append alone has more. */
const STEP = 2_000

/** Records below a revision, but never the last one. */
const below = (revision: string) =>
  `stream = $1 and revision < least(${revision}::int8, (select max(revision) from log.events where stream = $1))`

const page = `
  select revision, id, type, metadata from log.events where ${below('$2')} order by revision desc limit ${STEP}`

const remove = `delete from log.events where ${below('$2')} and revision >= $3`

type Row = Omit<NewEvent, 'data'> & { readonly revision: Revision }

const opens = (row: Row): boolean => opensAppend({ ...row, data: '' })

/** The revision from which on the last appends below `before` are deleted at once; undefined where the stream has none there. */
const beginningOfStep = async (pool: pg.Pool, stream: string, before: Revision): Promise<Revision | undefined> => {
  const pageBelow = async (revision: Revision) =>
    (await queryWithRetry<Row>(pool, { name: 'log-truncate-page', text: page, values: [stream, revision] })).rows
  let rows = await pageBelow(before)
  let lowest = rows.at(-1)
  let opening = rows.findLast(opens)
  while (rows.length === STEP && !opening) {
    rows = await pageBelow(lowest!.revision) // of an append that has more records
    lowest = rows.at(-1) ?? lowest
    opening = rows.find(opens)
  }
  // Without one the stream begins in the middle of an append, whose beginning was erased.
  return (opening ?? lowest)?.revision
}

/**
 * Deletes the records of a stream below a revision, but not its last one. From the end, and whole appends: what a kill leaves is the
 * beginning of the stream, as it once was, and what follows the truncated records.
 */
export const truncateStream = async (pool: pg.Pool, stream: string, before: Revision): Promise<void> => {
  for (let end = before; ;) {
    const from = await beginningOfStep(pool, stream, end)
    if (from === undefined) return
    await queryWithRetry(pool, { name: 'log-truncate', text: remove, values: [stream, end, from] })
    end = from
  }
}
