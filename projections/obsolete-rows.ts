import type { Client } from '../src/eventstore/engine/checkpoint.ts'
import { projectionOf } from '../src/eventstore/engine/projection.ts'
import { streamIdOf } from '../src/eventstore/engine/stream.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { obsoleteRowsTable } from '../src/tables/main.ts'

/** The incarnation before which rows are obsolete, by trace id: the revision of the newest deletion, or of the first restated message of an erased past. */
type Changes = Map<string, bigint>

const columns = obsoleteRowsTable.unnest<readonly [traceId: string, before: bigint]>({
  trace_id: ([traceId]) => traceId,
  before: ([, before]) => before,
})

/**
 * The traces whose messages and parts still have to be swept, because the trace was deleted or its past was erased. That may be thousands of
 * rows: to delete them in the batch of the event would delay all other writes. Empty when everything has been swept.
 */
export const obsoleteRows = projectionOf<TraceEvent>()<Changes>({
  name: 'obsolete-rows',
  tables: obsoleteRowsTable.create,
  rows: { obsolete_rows: { trace: 'trace_id' } },
  indexes: '',
  start: () => new Map(),
  on: {
    TraceDeleted: (deleted, { streamId: id, revision }) => void deleted.set(id, revision),
    HistoryErased: (erased, { streamId: id, data }) => void erased.set(id, BigInt(data.since)),
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessageAdded: 'ignored',
    MessageUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: (deleted, write) => {
    if (deleted.size === 0) return
    write(
      'obsolete-rows-upsert',
      `${columns.insert} order by 1 on conflict (trace_id) do update set before = excluded.before`,
      columns.values([...deleted]),
    )
  },
})

const CHUNK_ROWS = 500
const CHUNK_BYTES = 16 * 1024 * 1024
const CHUNK_TRACES = 500

const dueOf = (schema: string) => `
  due as materialized (
    select trace_id, before from ${schema}.obsolete_rows where $1::uuid is null or trace_id = $1
    order by trace_id limit ${CHUNK_TRACES}
  )`

/** The tables, in the order in which they are swept, with the column that holds most of a row. */
const swept = {
  message_parts: 'body',
  message_blocks: 'body',
  messages: 'text_content',
} as const

/**
 * Deletes a chunk of rows of deleted traces, limited in rows and bytes: the sizes of long values are known without reading them. No projection
 * writes these rows, because a trace with the same id that is created later has a higher incarnation.
 */
const removeRows = (schema: string, table: keyof typeof swept) => `
  with ${dueOf(schema)}
  delete from ${schema}.${table} where ctid = any(array(
    select w.ctid from (
      select o.ctid, sum(o.size) over (rows unbounded preceding) - o.size as before from (
        select old.* from due cross join lateral (
          select r.ctid, coalesce(pg_column_size(r.${swept[table]}), 0) as size from ${schema}.${table} r
          where r.trace_id = due.trace_id and r.incarnation < due.before limit ${CHUNK_ROWS}
        ) old limit ${CHUNK_ROWS}
      ) o
    ) w where w.before < ${CHUNK_BYTES}
  ))`

// A trace that was deleted again meanwhile has another `before`, so its row stays.
const removeDone = (schema: string) => `
  with ${dueOf(schema)}
  delete from ${schema}.obsolete_rows o using due where o.trace_id = due.trace_id and o.before = due.before
    ${Object.keys(swept)
      .map(
        (table) =>
          `and not exists (select from ${schema}.${table} r where r.trace_id = due.trace_id and r.incarnation < due.before)`,
      )
      .join(' ')}`

/**
 * Deletes a chunk of obsolete rows, of all traces or of the one in `stream`: parts first, then messages, then the row in `obsolete_rows`. Returns
 * whether it has deleted any. May be repeated, also by several processes at once.
 */
export const sweepObsoleteRows = async (client: Client, schema: string, stream?: string): Promise<boolean> => {
  const values = [stream === undefined ? null : streamIdOf({ stream })]
  const tables = Object.keys(swept) as (keyof typeof swept)[]
  for (const text of [...tables.map((table) => removeRows(schema, table)), removeDone(schema)]) {
    const { rowCount } = await client.query(text, values)
    if (rowCount) return true
  }
  return false
}
