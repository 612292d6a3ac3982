import { type TextName, textNames } from '../src/contract/trace-texts.ts'
import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { keyHash } from '../src/base/ids.ts'
import { uuids } from '../src/eventstore/postgres/arrays.ts'
import { earlierDeletions, withDeletion } from '../src/server/trace/earlier-deletions.ts'
import { isOfUsage, timestampIn } from '../src/server/trace/messages/message.ts'
import { literal } from './support/changed-rows.ts'
import { byKey } from './support/sql.ts'
import type { Cells } from '../src/tables/table.ts'
import {
  ID_TEXT,
  STARTED,
  columnOf,
  listedBy,
  listedByAuthor,
  type textColumns,
  tombstonesTable,
  tracesTable,
} from '../src/tables/main.ts'

type Created = Extract<TraceEvent, { type: 'TraceCreated' }>['data'] & {
  at: number
  incarnation: bigint
  erased?: bigint
}

/** The changes of one trace in a batch. */
type Row = {
  readonly id: string
  created?: Created
  readonly set: Map<keyof typeof tracesTable.columns, string | number | null>
  updatedAt: number
  bytes: number
  revision: bigint
  at: number
  /** The smallest and the largest timestamp that messages were given; undefined without one. */
  startedAt: number | undefined
  endedAt: number | undefined
}

type NewRow = Row & { created: Created }

type Tombstone = {
  readonly id: string
  readonly revision: bigint
  readonly at: number
  readonly deletions: string
  readonly arriving?: string
}

type Changes = {
  readonly rows: Map<string, Row>
  /** The ids of rows that go. */
  readonly removed: Set<string>
  readonly tombstones: Map<string, Tombstone>
  /** Traces of which messages were restated: a trace that is being moved here has no row yet. */
  readonly restated: Map<string, Pick<Tombstone, 'id' | 'revision' | 'at'>>
}

const rowOf = ({ rows }: Changes, { streamId: id, revision, at }: DecodedEvent): Row => {
  let row = rows.get(id)
  if (!row) {
    const times = { startedAt: undefined, endedAt: undefined }
    rows.set(id, (row = { id, set: new Map(), updatedAt: 0, bytes: 0, revision, at, ...times }))
  }
  row.revision = revision
  row.at = at
  return row
}

/** `isContent` is false for a change of the usage alone, which moves no `updatedAt`. */
const messageWritten = (changes: Changes, event: DecodedEvent, timestamp: number | undefined, isContent: boolean) => {
  const row = rowOf(changes, event)
  if (isContent) row.updatedAt = event.at
  row.bytes += event.bytes
  if (timestamp === undefined) return
  row.startedAt = Math.min(row.startedAt ?? timestamp, timestamp)
  row.endedAt = Math.max(row.endedAt ?? timestamp, timestamp)
}

const tombstones = tombstonesTable.unnest<Tombstone>({
  id: ({ id }) => id,
  revision: ({ revision }) => revision,
  at: ({ at }) => at,
  deletions: ({ deletions }) => deletions,
  arriving: ({ arriving }) => arriving,
})

const restated = tombstonesTable.unnest<Pick<Tombstone, 'id' | 'revision' | 'at'>>({
  id: ({ id }) => id,
  revision: ({ revision }) => revision,
  at: ({ at }) => at,
})

const writeRemoved = (ids: readonly string[], write: WriteStatement) =>
  write('traces-delete', 'delete from traces where id = any($1::uuid[])', [uuids(ids)])

const writeTombstones = (deleted: readonly Tombstone[], write: WriteStatement) =>
  write(
    'traces-bury',
    `${tombstones.insert} on conflict (id)
     do update set revision = excluded.revision, at = excluded.at, deletions = excluded.deletions, arriving = excluded.arriving`,
    tombstones.values(deleted),
  )

/** Moves the revisions of traces that are being moved here. */
const writeRestated = (all: readonly Pick<Tombstone, 'id' | 'revision' | 'at'>[], write: WriteStatement) =>
  write(
    'traces-arriving',
    `update trace_tombstones t set revision = u.revision, at = u.at from ${restated.as('u')}
     where t.id = u.id and t.arriving is not null`,
    restated.values(all),
  )

const touched = {
  id: ({ id }: Row) => id,
  updated_at: ({ updatedAt }: Row) => updatedAt,
  bytes: ({ bytes }: Row) => bytes,
  revision: ({ revision }: Row) => revision,
  at: ({ at }: Row) => at,
  started_at: ({ startedAt }: Row) => startedAt,
  ended_at: ({ endedAt }: Row) => endedAt,
}

const parentKey = (parentExternalId: string | undefined) =>
  parentExternalId === undefined ? undefined : keyHash(parentExternalId)

const textCells = Object.fromEntries(
  textNames.map((name) => [columnOf[name], ({ created }: NewRow) => literal(created[name])]),
) as Cells<typeof textColumns, NewRow>

const inserted = tracesTable.unnest<NewRow>({
  ...touched,
  namespace_id: ({ created }) => created.namespaceId,
  external_id: ({ created }) => created.externalId,
  key: ({ created }) => keyHash(created.externalId),
  created_by: ({ created }) => created.createdBy,
  created_at: ({ created }) => created.at,
  incarnation: ({ created }) => created.incarnation,
  erased: ({ created }) => created.erased,
  visibility: ({ created }) => created.visibility,
  parent_key: ({ created }) => parentKey(created.parentExternalId),
  ...textCells,
})

const updated = tracesTable.unnest<Row>(touched)

/** Also adds the new bytes to the sizes of namespaces: a statement of its own would look up the same traces again. */
const writeUpdated = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'traces-touch',
    `with touched as (
       update traces t set updated_at = greatest(t.updated_at, u.updated_at), bytes = t.bytes + u.bytes,
         revision = u.revision, at = u.at, started_at = least(t.started_at, u.started_at),
         ended_at = greatest(t.ended_at, u.ended_at)
       from ${updated.as('u')} ${byKey('traces', 'r.id = u.id')} where t.ctid = found.ctid
       returning t.namespace_id, u.bytes
     )
     update sizes s set bytes = s.bytes + more.bytes
     from (
       select namespace_id, sum(bytes)::int8 as bytes from touched where bytes > 0 group by namespace_id
     ) more
     where s.namespace_id = more.namespace_id`,
    updated.values(rows),
  )

/** Updates a trace whose own fields changed: these are few, so each gets a statement of its own, which is not prepared. */
const writeSet = ({ id, set }: Row, write: WriteStatement) => {
  const columns = [...set.keys()].sort()
  for (const [column, value] of set) tracesTable.assertHolds(column, value)
  const assignments = columns.map((column, i) => `${column} = $${i + 2}`).join(', ')
  write('', `update traces set ${assignments} where id = $1`, [id, ...columns.map((column) => set.get(column))])
}

/** One row for each trace, without its messages, and a tombstone for each deleted one. */
export const traces = projectionOf<TraceEvent>()<Changes>({
  name: 'traces',
  tables: `
    ${tracesTable.create}
    comment on column traces.updated_day is 'days since 1970: indexed instead of updated_at, which every batch changes';
    comment on column traces.updated_slot is 'the same in ten minutes, for lists by the last update';
    comment on column traces.parent_key is 'hash of parent_external_id: children are looked up by it';
    comment on column traces.started_at is 'the smallest timestamp of its messages, ended_at the largest';
    comment on column traces.bytes is 'length of its message events so far: an upper bound of the size of its messages';
    comment on column traces.incarnation is 'revision at which it begins: tells one life of an externalId from the next';
    comment on column traces.erased is 'revision of the event that erased its past, of which incarnation is the first message';
    ${tombstonesTable.create}`,
  rows: { traces: { trace: 'id' }, trace_tombstones: { trace: 'id' } },
  // Many namespaces may have a trace with the same external id: looked up by namespace, or the oldest first. The indexes of
  // the retention and of sorted lists hold hashes and texts of ids, so that no plan takes them to look for a trace.
  indexes: `
    create index traces_arriving on trace_tombstones (id) where arriving is not null;
    create index traces_key on traces (key, namespace_id);
    create index traces_unchanged on traces (uuid_hash(namespace_id), updated_day, uuid_hash(id));
    create index traces_public on traces (key, created_at, id) where visibility = 'public';
    create index traces_not_public on traces (key, created_at, id) where visibility <> 'public';
    create index traces_children on traces (${listedBy.parent('namespace_id')}, parent_key, created_at, id)
      where parent_key is not null;
    create index traces_public_children on traces (${listedBy.publicParent('namespace_id')}, parent_key, created_at, id)
      where parent_key is not null and visibility = 'public';
    create index traces_started on traces (${listedBy.startedAt('namespace_id')}, ${STARTED}, ${ID_TEXT});
    create index traces_public_started on traces (${listedBy.publicStartedAt('namespace_id')}, ${STARTED}, ${ID_TEXT})
      where visibility = 'public';
    create index traces_authored on traces (${listedByAuthor('namespace_id', 'created_by')}, ${STARTED}, ${ID_TEXT});
    create index traces_updated on traces (${listedBy.updatedAt('namespace_id')}, updated_slot);
    create index traces_public_updated on traces (${listedBy.publicUpdatedAt('namespace_id')}, updated_slot)
      where visibility = 'public';`,
  start: () => ({ rows: new Map(), removed: new Set(), tombstones: new Map(), restated: new Map() }),
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
        else row.set.set(columnOf[field as TextName], literal(value) ?? null)
        if (field === 'parentExternalId') row.set.set('parent_key', parentKey(value as string) ?? null)
      }
    },
    MessageAdded: (changes, event) => messageWritten(changes, event, event.data.timestamp, true),
    // If it replaces a timestamp, the projection of messages looks up the smallest and the largest one.
    MessageUpdated: (changes, event) => {
      const { patch } = event.data
      messageWritten(changes, event, timestampIn(patch)?.value as number | undefined, !isOfUsage(patch))
    },
    MessagesCounted: (changes, event) => void rowOf(changes, event),
    TraceSummarised: (changes, event) => {
      const { set } = rowOf(changes, event)
      set.set('ai_title', literal(event.data.title) ?? null).set('ai_summary', JSON.stringify(event.data.summary))
      set.set('summary_message_count', event.data.messageCount)
    },
    MessageRestated: (changes, event) => {
      const { streamId: id, revision, at } = event
      rowOf(changes, event)
      changes.restated.set(id, { id, revision, at })
    },
    TraceArriving: ({ tombstones }, { streamId: id, revision, at, data }) => {
      const { externalId, namespaceId, createdBy, movedFrom } = data
      const arriving = JSON.stringify({ externalId, namespaceId, createdBy, movedFrom })
      tombstones.set(id, { id, revision, at, deletions: JSON.stringify(earlierDeletions(data)), arriving })
    },
    // A trace that was deleted before keeps what is known of that; the event of the deletion is erased.
    HistoryErased: (changes, event) => {
      const { rows, removed, tombstones, restated } = changes
      const { streamId: id, revision, at, data } = event
      restated.delete(id)
      const { createdAt, updatedAt, since, bytes, ...created } = data
      rows.delete(id)
      removed.add(id)
      const row = rowOf(changes, event)
      row.created = { ...created, at: createdAt, incarnation: BigInt(since), erased: revision }
      row.updatedAt = updatedAt
      row.bytes = bytes
      const earlier = earlierDeletions(data)
      const last = earlier.newest.at(-1)
      if (last || data.movedFrom)
        tombstones.set(id, { id, revision, at: last?.deletedAt ?? at, deletions: JSON.stringify(earlier) })
    },
    TraceDeleted: ({ rows, removed, tombstones, restated }, { streamId: id, revision, at, data, actor }) => {
      restated.delete(id)
      rows.delete(id)
      removed.add(id)
      tombstones.set(id, { id, revision, at, deletions: JSON.stringify(withDeletion(data, at, actor?.userId)) })
    },
  },
  onSkipped: (changes, event) => void rowOf(changes, event),
  write: ({ rows, removed, tombstones, restated }, write) => {
    if (removed.size > 0) writeRemoved([...removed], write)
    if (tombstones.size > 0) writeTombstones([...tombstones.values()], write)
    if (restated.size > 0) writeRestated([...restated.values()], write)
    const all = [...rows.values()]
    const created = all.filter((row): row is NewRow => row.created !== undefined)
    const updated = all.filter((row) => row.created === undefined)
    if (created.length > 0) write('traces-insert', inserted.insert, inserted.values(created))
    if (updated.length > 0) writeUpdated(updated, write)
    for (const row of all) if (row.set.size > 0) writeSet(row, write)
  },
})
