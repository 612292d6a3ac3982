import { type RowOf, tableOf } from './table.ts'
import { erasedFrom } from './storage.ts'

/** The type of the entry for all message events of a request. */
export const MESSAGES_UPSERTED = 'MessagesUpserted'

/**
 * Who did what to a trace or a namespace: one row for each event, but one for all message events of a request. `stream_id`
 * is the id of the trace, or of the namespace for its own events. `position` and `revision` are those of the row's last
 * event, `through` is the last revision of its append. `data` is the data of the event without secrets; for messages it has the
 * counts after them, or null if these did not change. `adds` and `updates` say where the events of messages are in the log: runs of
 * `[ordinal, revision, length]`, and `[ordinal, revision, whether its place in the list changed]`. `is_of_usage` is true where nothing but the usage of messages has changed. `place` is 0, and
 * negative for entries that a later event records because their own events are erased, -1 for the newest of them: a deletion records
 * earlier deletions, an erased past also its other entries, without quoted content. Their `through` is the revision of that event.
 */
export const entriesTable = tableOf(
  'entries',
  {
    position: 'int8 not null',
    place: 'int4 not null',
    namespace_id: 'uuid not null',
    stream_id: 'uuid not null',
    first_revision: 'int8 not null',
    revision: 'int8 not null',
    through: 'int8 not null',
    at: 'int8 not null',
    type: 'text collate "C" not null',
    actor: 'text collate "C"',
    request_id: 'text collate "C"',
    added: 'int4',
    updated: 'int4',
    ordinal: 'int4',
    adds: 'json',
    updates: 'json',
    is_of_usage: 'bool',
    data: 'json',
  },
  { constraint: 'primary key (position, place)', storage: erasedFrom },
)

/** The namespace of each trace that ever existed, for its later entries. */
export const entryTracesTable = tableOf('entry_traces', { trace_id: 'uuid primary key', namespace_id: 'uuid not null' })

/**
 * Entries of this trace before the revision `before` and the position `position` belong to a deleted trace or an erased past, and have to
 * be deleted.
 */
export const obsoleteEntriesTable = tableOf('obsolete_entries', {
  stream_id: 'uuid primary key',
  before: 'int8 not null',
  position: 'int8 not null',
})

/**
 * Where the restated messages of a trace are, until an erasure of its past makes them the present ones: runs as in `adds`. `since` tells one
 * restatement from another that was broken off. The erasure names revisions itself, but in a copy of a log they may be others.
 */
export const restatedRunsTable = tableOf(
  'restated_runs',
  {
    stream_id: 'uuid not null',
    revision: 'int8 not null',
    since: 'int8 not null',
    ordinal: 'int4 not null',
    length: 'int4 not null',
  },
  { constraint: 'primary key (stream_id, revision)' },
)

/** The tables of the timeline, which are a group of their own. */
export type TimelineTables = {
  entries: RowOf<typeof entriesTable>
  entry_traces: RowOf<typeof entryTracesTable>
  obsolete_entries: RowOf<typeof obsoleteEntriesTable>
  restated_runs: RowOf<typeof restatedRunsTable>
}
