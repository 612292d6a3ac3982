import type { Client } from '../../src/eventstore/engine/checkpoint.ts'
import { streamIdOf } from '../../src/eventstore/engine/stream.ts'

const CHUNK_ROWS = 500
const CHUNK_TRACES = 500

const dueOf = (schema: string) => `
  due as materialized (
    select stream_id, before, position from ${schema}.obsolete_entries where $1::uuid is null or stream_id = $1
    order by stream_id limit ${CHUNK_TRACES}
  )`

const leftOf = (schema: string) => `
  select r.ctid from ${schema}.entries r
  where r.stream_id = due.stream_id and r.revision < due.before and r.position < due.position
    and r.type <> 'TraceDeleted'`

const removeRows = (schema: string) => `
  with ${dueOf(schema)}
  delete from ${schema}.entries where ctid = any(array(
    select old.ctid from due cross join lateral (${leftOf(schema)} limit ${CHUNK_ROWS}) old limit ${CHUNK_ROWS}
  ))`

// If the trace was deleted again meanwhile, its row has another `position` and stays.
const removeDone = (schema: string) => `
  with ${dueOf(schema)}
  delete from ${schema}.obsolete_entries o using due
  where o.stream_id = due.stream_id and o.position = due.position and not exists (${leftOf(schema)})`

/** Deletes the entries of deleted traces and erased pasts, except deletions. Each chunk may be repeated, also by several processes. */
export const sweepTimeline = async (client: Client, schema: string, stream?: string): Promise<boolean> => {
  const values = [stream === undefined ? null : streamIdOf({ stream })]
  for (const text of [removeRows(schema), removeDone(schema)]) {
    const { rowCount } = await client.query(text, values)
    if (rowCount) return true
  }
  return false
}
