import { projectionOf, type Write } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { textOf } from '../src/json/exact.ts'
import { int4s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import { partIndex } from '../src/trace/message.ts'
import { partText } from '../src/trace/part-text.ts'
import type { Part } from '../src/trace/part.ts'
import { ignoredButTraces } from './support/ignored.ts'

/** `body` is the part as answers show it: `{"order", "type", "content"?}`, as JSON text. */
export type PartsTable = { trace_id: string; ordinal: number; position: number; type: string; body: string }

type Row = {
  readonly traceId: string
  readonly ordinal: number
  readonly position: number
  readonly part: Part | undefined
}

/** Parts by message and position; without a part where one is taken away. */
type Changes = {
  readonly inserted: Map<string, Row & { part: Part }>
  readonly replaced: Map<string, Row>
  readonly deleted: Set<string>
}

const forget = (rows: Map<string, Row>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

const columns = (rows: readonly (Row & { part: Part })[]) => [
  uuids(rows.map(({ traceId }) => traceId)),
  int4s(rows.map(({ ordinal }) => ordinal)),
  int4s(rows.map(({ position }) => position)),
  texts(rows.map(({ part }) => part.type)),
  jsons(rows.map(({ part, position }) => partText(textOf(part), position))),
]

const rows = `select * from unnest($1::uuid[], $2::int4[], $3::int4[], $4::text[], $5::json[])`

const writeReplaced = (changed: readonly Row[], write: Write) => {
  const kept = changed.filter((row): row is Row & { part: Part } => row.part !== undefined)
  const gone = changed.filter((row) => row.part === undefined)
  if (kept.length > 0) {
    write(
      'parts-upsert',
      `insert into parts ${rows} on conflict (trace_id, ordinal, position) do update set type = excluded.type, body = excluded.body`,
      columns(kept),
    )
  }
  if (gone.length === 0) return
  write(
    'parts-remove',
    `delete from parts p using unnest($1::uuid[], $2::int4[], $3::int4[]) g (trace_id, ordinal, position)
     where p.trace_id = g.trace_id and p.ordinal = g.ordinal and p.position = g.position`,
    [
      uuids(gone.map((row) => row.traceId)),
      int4s(gone.map((row) => row.ordinal)),
      int4s(gone.map((row) => row.position)),
    ],
  )
}

/** The parts of all messages, each whole, with the text that it came in with. */
export const parts = projectionOf<AnyEvent>()<Changes>({
  name: 'parts',
  tables: `
    create table parts (
      trace_id uuid not null, ordinal int4 not null, position int4 not null, type text collate "C" not null,
      body json not null, primary key (trace_id, ordinal, position)
    );
    alter table parts alter body set storage external;`,
  indexes: '',
  start: () => ({ inserted: new Map(), replaced: new Map(), deleted: new Set() }),
  on: {
    MessageAdded: ({ inserted }, { of: traceId, data: { ordinal, parts } }) => {
      for (const [position, part] of parts.entries()) {
        inserted.set(`${traceId}/${ordinal}/${position}`, { traceId, ordinal, position, part })
      }
    },
    MessageUpdated: ({ inserted, replaced }, { of: traceId, data: { ordinal, patch } }) => {
      for (const operation of patch) {
        const position = partIndex(operation.path)
        if (position === undefined) continue
        const key = `${traceId}/${ordinal}/${position}`
        const part = operation.op === 'remove' ? undefined : (operation.value as Part)
        if (!inserted.has(key)) replaced.set(key, { traceId, ordinal, position, part })
        else if (part) inserted.set(key, { traceId, ordinal, position, part })
        else inserted.delete(key)
      }
    },
    TraceDeleted: ({ inserted, replaced, deleted }, { of: id }) => {
      forget(inserted, id)
      forget(replaced, id)
      deleted.add(id)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
    ...ignoredButTraces,
  },
  write: ({ inserted, replaced, deleted }, write) => {
    if (deleted.size > 0)
      write('parts-delete', 'delete from parts where trace_id = any($1::uuid[])', [uuids([...deleted])])
    if (inserted.size > 0) write('parts-insert', `insert into parts ${rows}`, columns([...inserted.values()]))
    if (replaced.size > 0) writeReplaced([...replaced.values()], write)
  },
})
