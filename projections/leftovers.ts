import type { Client } from '../src/engine/checkpoint.ts'
import { projectionOf } from '../src/engine/projection.ts'
import { streamIdOf } from '../src/engine/stream.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import { leftoversTable } from './tables.ts'

/** The revision of the newest deletion, by trace id. */
type Changes = Map<string, bigint>

const noted = leftoversTable.unnest<readonly [traceId: string, before: bigint]>({
  trace_id: ([traceId]) => traceId,
  before: ([, before]) => before,
})

/**
 * The deleted traces whose messages and parts are still to be swept. A deletion may concern thousands of rows: to delete
 * them in its own batch would hold up all other writes. Empty when everything has been swept.
 */
export const leftovers = projectionOf<TraceEvent>()<Changes>({
  name: 'leftovers',
  tables: leftoversTable.create,
  rows: { leftovers: { trace: 'trace_id' } },
  indexes: '',
  start: () => new Map(),
  on: {
    TraceDeleted: (deleted, { streamId: id, revision }) => void deleted.set(id, revision),
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
      'leftovers-upsert',
      `${noted.insert} order by 1 on conflict (trace_id) do update set before = excluded.before`,
      noted.values([...deleted]),
    )
  },
})

const CHUNK_ROWS = 500
const CHUNK_TRACES = 500

const dueOf = (schema: string) => `
  due as materialized (
    select trace_id, before from ${schema}.leftovers where $1::uuid is null or trace_id = $1
    order by trace_id limit ${CHUNK_TRACES}
  )`

/** Deletes rows of deleted traces. No projection touches them: a trace of the same id that is created later has a higher incarnation. */
const removeRows = (schema: string, table: 'messages' | 'parts') => `
  with ${dueOf(schema)}
  delete from ${schema}.${table} where ctid = any(array(
    select old.ctid from due cross join lateral (
      select r.ctid from ${schema}.${table} r where r.trace_id = due.trace_id and r.incarnation < due.before
      limit ${CHUNK_ROWS}
    ) old limit ${CHUNK_ROWS}
  ))`

// A trace that was deleted again meanwhile has another `before`, so its row stays.
const removeDone = (schema: string) => `
  with ${dueOf(schema)}
  delete from ${schema}.leftovers l using due where l.trace_id = due.trace_id and l.before = due.before
    and not exists (select from ${schema}.messages m where m.trace_id = due.trace_id and m.incarnation < due.before)
    and not exists (select from ${schema}.parts p where p.trace_id = due.trace_id and p.incarnation < due.before)`

/** Deletes parts first, then messages, then the row that asks for it. Each chunk may be repeated, also by several processes. */
export const sweepLeftovers = async (client: Client, schema: string, stream?: string): Promise<boolean> => {
  const values = [stream === undefined ? null : streamIdOf({ stream })]
  for (const text of [removeRows(schema, 'parts'), removeRows(schema, 'messages'), removeDone(schema)]) {
    const { rowCount } = await client.query(text, values)
    if (rowCount) return true
  }
  return false
}
