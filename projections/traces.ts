import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { keyHash } from '../src/ids.ts'
import { int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import { endedBy } from '../src/trace/earlier.ts'
import { columnsOfFields } from '../src/trace/rows.ts'
import { byKey } from './support/by-key.ts'
import { ignoredButTraces } from './support/ignored.ts'
import { rewritten } from './support/vacuum.ts'

/** The columns of texts from clients. They hold JSON string literals: PostgreSQL text cannot hold NUL or lone surrogates. */
const columnOf = columnsOfFields
type WrittenField = keyof typeof columnOf
type WrittenColumn = (typeof columnOf)[WrittenField]
const writtenFields = Object.keys(columnOf) as WrittenField[]

export type TracesTable = {
  id: string
  namespace_id: string
  external_id: string
  key: string
  created_by: string
  created_at: bigint
  updated_at: bigint
  visibility: string
  ai_title: string | null
  ai_summary: string | null
  summary_message_count: bigint | null
  bytes: bigint
  incarnation: bigint
  revision: bigint
  at: bigint
} & { [Column in WrittenColumn]: string | null }

export type TombstonesTable = { id: string; revision: bigint; at: bigint; deletions: string }

type Created = Extract<AnyEvent, { type: 'TraceCreated' }>['data'] & { at: number; incarnation: bigint }

/** The changes of one trace in a batch. */
type Row = {
  readonly id: string
  created?: Created
  readonly set: Map<string, string | number | null>
  updatedAt: number
  bytes: number
  revision: bigint
  at: number
}

type Tombstone = { readonly id: string; readonly revision: bigint; readonly at: number; readonly deletions: string }

type Changes = { readonly rows: Map<string, Row>; readonly deleted: Map<string, Tombstone> }

const rowOf = ({ rows }: Changes, { streamId: id, revision, at }: DecodedEvent): Row => {
  let row = rows.get(id)
  if (!row) rows.set(id, (row = { id, set: new Map(), updatedAt: 0, bytes: 0, revision, at }))
  row.revision = revision
  row.at = at
  return row
}

const messageWritten = (changes: Changes, event: DecodedEvent) => {
  const row = rowOf(changes, event)
  row.updatedAt = event.at
  row.bytes += event.bytes
}

const literal = (value: unknown) => (value === undefined ? null : JSON.stringify(value))

const writeDeleted = (deleted: readonly Tombstone[], write: WriteStatement) => {
  const ids = uuids(deleted.map(({ id }) => id))
  write('traces-delete', 'delete from traces where id = any($1::uuid[])', [ids])
  const values = [
    ids,
    int8s(deleted.map((t) => t.revision)),
    int8s(deleted.map((t) => t.at)),
    jsons(deleted.map((t) => t.deletions)),
  ]
  write(
    'traces-bury',
    `insert into trace_tombstones select * from unnest($1::uuid[], $2::int8[], $3::int8[], $4::json[])
     on conflict (id) do update set revision = excluded.revision, at = excluded.at, deletions = excluded.deletions`,
    values,
  )
}

const insert = `
  insert into traces (id, namespace_id, external_id, key, created_by, created_at, incarnation, visibility, bytes,
    updated_at, revision, at, ${writtenFields.map((field) => columnOf[field]).join(', ')})
  select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::int8[], $7::int8[], $8::text[],
    $9::int8[], $10::int8[], $11::int8[], $12::int8[], ${writtenFields.map((_, i) => `$${i + 13}::json[]`).join(', ')})`

const writeCreated = (rows: readonly (Row & { created: Created })[], write: WriteStatement) =>
  write('traces-insert', insert, [
    uuids(rows.map(({ id }) => id)),
    uuids(rows.map(({ created }) => created.namespaceId)),
    texts(rows.map(({ created }) => created.externalId)),
    uuids(rows.map(({ created }) => keyHash(created.externalId))),
    uuids(rows.map(({ created }) => created.createdBy)),
    int8s(rows.map(({ created }) => created.at)),
    int8s(rows.map(({ created }) => created.incarnation)),
    texts(rows.map(({ created }) => created.visibility)),
    int8s(rows.map(({ bytes }) => bytes)),
    int8s(rows.map(({ updatedAt }) => updatedAt)),
    int8s(rows.map(({ revision }) => revision)),
    int8s(rows.map(({ at }) => at)),
    ...writtenFields.map((field) => jsons(rows.map(({ created }) => literal(created[field]) ?? undefined))),
  ])

const writeUpdated = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'traces-touch',
    `update traces t set updated_at = greatest(t.updated_at, u.updated_at), bytes = t.bytes + u.bytes, revision = u.revision, at = u.at
     from unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::int8[]) u (id, updated_at, bytes, revision, at)
       ${byKey('traces', 'r.id = u.id')} where t.ctid = found.ctid`,
    [
      uuids(rows.map(({ id }) => id)),
      int8s(rows.map(({ updatedAt }) => updatedAt)),
      int8s(rows.map(({ bytes }) => bytes)),
      int8s(rows.map(({ revision }) => revision)),
      int8s(rows.map(({ at }) => at)),
    ],
  )

/** Updates a trace whose own fields changed: these are few, so each gets a statement of its own, which is not prepared. */
const writeSet = ({ id, set }: Row, write: WriteStatement) => {
  const columns = [...set.keys()].sort()
  const assignments = columns.map((column, i) => `${column} = $${i + 2}`).join(', ')
  write('', `update traces set ${assignments} where id = $1`, [id, ...columns.map((column) => set.get(column))])
}

/** One row for each trace, without its messages, and a tombstone for each deleted one. */
export const traces = projectionOf<AnyEvent>()<Changes>({
  name: 'traces',
  tables: `
    create table traces (
      id uuid primary key, namespace_id uuid not null, external_id text collate "C" not null, key uuid not null,
      created_by uuid not null, created_at int8 not null, updated_at int8 not null, visibility text collate "C" not null,
      agent_id json not null, title json, project_path json, project_name json, model json, model_name json,
      git_remote_url json, git_branch json, git_ref json, ai_title json, ai_summary json, summary_message_count int8,
      bytes int8 not null, incarnation int8 not null, revision int8 not null, at int8 not null
    ) with (fillfactor = 70, ${rewritten});
    comment on column traces.bytes is 'length of its message events so far: an upper bound of what its messages weigh';
    comment on column traces.incarnation is 'revision of its first event: tells one life of an externalId from the next';
    create table trace_tombstones (id uuid primary key, revision int8 not null, at int8 not null, deletions json not null);`,
  rows: { traces: { trace: 'id' }, trace_tombstones: { trace: 'id' } },
  // Many namespaces may have a trace with the same external id: looked up by namespace, or the oldest first.
  indexes: `
    create index traces_key on traces (key, namespace_id);
    create index traces_public on traces (key, created_at, id) where visibility = 'public';
    create index traces_not_public on traces (key, created_at, id) where visibility <> 'public';`,
  start: () => ({ rows: new Map(), deleted: new Map() }),
  on: {
    TraceCreated: (changes, event) => {
      const row = rowOf(changes, event)
      row.created = { ...event.data, at: event.at, incarnation: event.revision }
      row.updatedAt = event.at
    },
    TraceUpdated: (changes, event) => {
      const row = rowOf(changes, event)
      row.updatedAt = event.at
      for (const operation of event.data.patch) {
        const field = operation.path.slice(1)
        const value = operation.op === 'remove' ? undefined : operation.value
        if (row.created) row.created = { ...row.created, [field]: value }
        else if (field === 'visibility') row.set.set('visibility', value as string)
        else row.set.set(columnOf[field as WrittenField], literal(value))
      }
    },
    MessageAdded: messageWritten,
    MessageUpdated: messageWritten,
    MessagesCounted: (changes, event) => void rowOf(changes, event),
    TraceSummarised: (changes, event) => {
      const { set } = rowOf(changes, event)
      set.set('ai_title', literal(event.data.title)).set('ai_summary', literal(event.data.summary))
      set.set('summary_message_count', event.data.messageCount)
    },
    TraceDeleted: ({ rows, deleted }, { streamId: id, revision, at, data, actor }) => {
      rows.delete(id)
      deleted.set(id, { id, revision, at, deletions: JSON.stringify(endedBy(data, at, actor?.userId)) })
    },
    ...ignoredButTraces,
  },
  onSkipped: (changes, event) => void rowOf(changes, event),
  write: ({ rows, deleted }, write) => {
    if (deleted.size > 0) writeDeleted([...deleted.values()], write)
    const all = [...rows.values()]
    const created = all.filter((row): row is Row & { created: Created } => row.created !== undefined)
    const updated = all.filter((row) => row.created === undefined)
    if (created.length > 0) writeCreated(created, write)
    if (updated.length > 0) writeUpdated(updated, write)
    for (const row of all) if (row.set.size > 0) writeSet(row, write)
  },
})
