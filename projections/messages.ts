import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { messageId } from '../src/ids.ts'
import { float8s, int4s, int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import type { TraceEvent } from '../src/trace/events.ts'
import { partIndex } from '../src/trace/message.ts'
import { byKey } from './support/by-key.ts'
import { ignoredButTraces } from './support/ignored.ts'
import { type NewRows, newRows } from './support/new-rows.ts'
import { PRESENT_INCARNATION } from './support/present-incarnation.ts'
import { erasedFrom } from './support/vacuum.ts'

/**
 * `text_content`, `model` and `tools` are JSON text; `ordinal` counts a trace's messages as they arrived. `incarnation` is
 * that of the trace: rows of an earlier incarnation stay until they are swept, and must not be shown.
 */
export type MessagesTable = {
  trace_id: string
  incarnation: bigint
  ordinal: number
  id: string
  external_id: string
  role: string
  text_content: string | null
  model: string | null
  sequence: number | null
  timestamp: number | null
  class: string
  tools: string
  digest: string
  created_at: bigint
  updated_at: bigint
}

type Added = Extract<TraceEvent, { type: 'MessageAdded' }>['data']
type Updated = Extract<TraceEvent, { type: 'MessageUpdated' }>

type Row = {
  readonly traceId: string
  readonly ordinal: number
  readonly fields: Record<string, unknown>
  class: string
  tools: readonly string[]
  digest: string
  updatedAt: number
}
type NewRow = Row & { readonly externalId: string; readonly createdAt: number }

type Changes = { readonly added: NewRows<NewRow>; readonly updated: Map<string, Row> }

const scalarsOf = ({ role, textContent, model, order, timestamp }: Added) => ({
  role,
  textContent,
  model,
  order,
  timestamp,
})

const update = (row: Row, { data, at }: DecodedEvent<Updated>) => {
  for (const operation of data.patch) {
    if (partIndex(operation.path) === undefined && operation.op !== 'remove')
      row.fields[operation.path.slice(1)] = operation.value
  }
  row.class = data.class
  row.tools = data.tools
  row.digest = data.digest
  row.updatedAt = at
}

const keyOf = ({ traceId, ordinal }: Pick<Row, 'traceId' | 'ordinal'>) => `${traceId}/${ordinal}`

const forget = (rows: Map<string, Row>, traceId: string) => {
  for (const [key, row] of rows) if (row.traceId === traceId) rows.delete(key)
}

const literal = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value))

const common = (rows: readonly Row[]) => [
  uuids(rows.map(({ traceId }) => traceId)),
  int4s(rows.map(({ ordinal }) => ordinal)),
  texts(rows.map(({ fields }) => fields.role as string | undefined)),
  jsons(rows.map(({ fields }) => literal(fields.textContent))),
  jsons(rows.map(({ fields }) => literal(fields.model))),
  float8s(rows.map(({ fields }) => fields.order as number | undefined)),
  float8s(rows.map(({ fields }) => fields.timestamp as number | undefined)),
  texts(rows.map((row) => row.class)),
  jsons(rows.map(({ tools }) => JSON.stringify(tools))),
  texts(rows.map(({ digest }) => digest)),
  int8s(rows.map(({ updatedAt }) => updatedAt)),
]

const insert = (rows: readonly NewRow[], write: WriteStatement) =>
  write(
    'messages-insert',
    `insert into messages (incarnation, trace_id, ordinal, role, text_content, model, sequence, timestamp, class, tools,
       digest, updated_at, id, external_id, created_at)
     select ${PRESENT_INCARNATION}, u.* from unnest($1::uuid[], $2::int4[], $3::text[], $4::json[], $5::json[],
       $6::float8[], $7::float8[], $8::text[], $9::json[], $10::text[], $11::int8[], $12::uuid[], $13::text[],
       $14::int8[]) u (trace_id)`,
    [
      ...common(rows),
      uuids(rows.map(({ traceId, externalId }) => messageId(traceId, externalId))),
      texts(rows.map(({ externalId }) => externalId)),
      int8s(rows.map(({ createdAt }) => createdAt)),
    ],
  )

// Null stands for a field that the patch does not change: a field that is set can never be removed again.
const writeUpdates = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'messages-update',
    `update messages m set role = coalesce(u.role, m.role), text_content = coalesce(u.text_content, m.text_content),
       model = coalesce(u.model, m.model), sequence = coalesce(u.sequence, m.sequence),
       timestamp = coalesce(u.timestamp, m.timestamp), class = u.class, tools = u.tools, digest = u.digest,
       updated_at = u.updated_at
     from unnest($1::uuid[], $2::int4[], $3::text[], $4::json[], $5::json[], $6::float8[], $7::float8[], $8::text[],
       $9::json[], $10::text[], $11::int8[]) u (trace_id, ordinal, role, text_content, model, sequence, timestamp,
       class, tools, digest, updated_at)
       ${byKey('messages', `r.trace_id = u.trace_id and r.incarnation = ${PRESENT_INCARNATION} and r.ordinal = u.ordinal`)}
     where m.ctid = found.ctid`,
    common(rows),
  )

/** Messages without a key come last: no message can have an infinite one. Queries must order by exactly these expressions. */
export const listOrder = (sequence: string, timestamp: string): string =>
  `coalesce(${sequence}, 'infinity'::float8), coalesce(${timestamp}, 'infinity'::float8)`

/** One row for each message, without its parts. The rows of deleted traces are swept later (`leftovers.ts`). */
export const messages = projectionOf<AnyEvent>()<Changes>({
  name: 'messages',
  tables: `
    create table messages (
      trace_id uuid not null, incarnation int8 not null, ordinal int4 not null, id uuid not null,
      external_id text collate "C" not null, role text collate "C" not null, text_content json, model json,
      sequence float8, timestamp float8, class text collate "C" not null, tools json not null,
      digest text collate "C" not null, created_at int8 not null, updated_at int8 not null,
      primary key (trace_id, incarnation, ordinal)
    ) with (fillfactor = 90, ${erasedFrom});
    alter table messages alter text_content set storage external;`,
  rows: { messages: { trace: 'trace_id' } },
  // The second index is the order of lists: an update that does not move a message changes none of its keys. The primary key
  // is made last: on an empty table all indexes seem equally good, the planner then takes the newest, and keeps the plan.
  indexes: `
    create unique index messages_id on messages (trace_id, incarnation, id);
    create index messages_listed on messages (trace_id, incarnation, ${listOrder('sequence', 'timestamp')}, ordinal);
    alter table messages drop constraint messages_pkey, add primary key (trace_id, incarnation, ordinal);`,
  start: () => ({ added: newRows<NewRow>(keyOf), updated: new Map() }),
  on: {
    MessageAdded: ({ added }, { streamId: traceId, at, data }) => {
      const { externalId, ordinal, class: kind, tools, digest } = data
      const counted = { class: kind, tools, digest }
      added.add({ traceId, ordinal, externalId, fields: scalarsOf(data), ...counted, createdAt: at, updatedAt: at })
    },
    MessageUpdated: ({ added, updated }, event) => {
      const { streamId: traceId, data } = event
      const key = keyOf({ traceId, ordinal: data.ordinal })
      let row: Row | undefined = added.find(key) ?? updated.get(key)
      if (!row) {
        row = { traceId, ordinal: data.ordinal, fields: {}, class: '', tools: [], digest: '', updatedAt: 0 }
        updated.set(key, row)
      }
      update(row, event)
    },
    TraceDeleted: ({ added, updated }, { streamId: id }) => {
      added.removeAll(({ traceId }) => traceId === id)
      forget(updated, id)
    },
    TraceCreated: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
    ...ignoredButTraces,
  },
  write: ({ added, updated }, write) => {
    if (added.all().length > 0) insert(added.all(), write)
    if (updated.size > 0) writeUpdates([...updated.values()], write)
  },
})
