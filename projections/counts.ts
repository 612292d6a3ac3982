import type { WriteStatement } from '../src/eventstore/engine/projection.ts'
import type { SessionShape } from '../src/contract/trace.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { jsons, uuids } from '../src/eventstore/postgres/arrays.ts'
import { byKey } from './support/sql.ts'
import { countsTable } from '../src/tables/main.ts'

/** How many messages a trace has, by class, and how many tool calls, by tool. */
export type Counted = Extract<TraceEvent, { type: 'MessagesCounted' | 'HistoryErased' }>['data']

type Shaped = { readonly id: string; readonly shape: SessionShape }
type Row = { readonly id: string; readonly counted: Counted; readonly shape: SessionShape | undefined }

const rows = countsTable.unnest<Row>({
  trace_id: ({ id }) => id,
  message_count: ({ counted }) => counted.messageCount,
  message_types: ({ counted }) => JSON.stringify(counted.messageTypeCounts),
  tool_types: ({ counted }) => JSON.stringify(counted.toolTypeCounts),
  shape: ({ shape }) => shape && JSON.stringify(shape),
})

const writeCounts = (counted: readonly Row[], write: WriteStatement) =>
  write(
    'counts-upsert',
    `${rows.insert} on conflict (trace_id) do update set message_count = excluded.message_count,
       message_types = excluded.message_types, tool_types = excluded.tool_types,
       shape = coalesce(excluded.shape, counts.shape)`,
    rows.values(counted),
  )

const writeShapes = (shaped: readonly Shaped[], write: WriteStatement) =>
  write(
    'counts-shapes',
    `update counts c set shape = u.shape from unnest($1::uuid[], $2::json[]) u (id, shape)
     ${byKey('counts', 'r.trace_id = u.id')} where c.ctid = found.ctid`,
    [uuids(shaped.map(({ id }) => id)), jsons(shaped.map(({ shape }) => JSON.stringify(shape)))],
  )

/** Writes the new counts and shapes of traces: each row once, also if both have changed. */
export const writeCounted = (
  counted: ReadonlyMap<string, Counted>,
  shaped: readonly Shaped[],
  write: WriteStatement,
): void => {
  const shapes = new Map(shaped.map(({ id, shape }) => [id, shape]))
  const changed = [...counted].map(([id, counts]) => ({ id, counted: counts, shape: shapes.get(id) }))
  const others = shaped.filter(({ id }) => !counted.has(id))
  if (changed.length > 0) writeCounts(changed, write)
  if (others.length > 0) writeShapes(others, write)
}

export const deleteCounts = (ids: readonly string[], write: WriteStatement): void =>
  write('counts-delete', 'delete from counts where trace_id = any($1::uuid[])', [uuids(ids)])
