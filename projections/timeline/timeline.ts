import { projectionOf, type WriteStatement } from '../../src/eventstore/engine/projection.ts'
import type { NamespaceEvent } from '../../src/server/namespace/events.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { required } from '../support/sql.ts'
import {
  type Changes,
  type Entry,
  type RestatedRun,
  historyErased,
  messageAdded,
  messageRestated,
  messagesCounted,
  messageUpdated,
  ofNamespace,
  ofTrace,
  traceCreated,
  traceDeleted,
  withMaskedCode,
} from './entries.ts'
import { type Erasing, writeRecordedEntries } from './recorded-entries.ts'
import {
  entriesTable,
  entryTracesTable,
  MESSAGES_UPSERTED,
  obsoleteEntriesTable,
  restatedRunsTable,
} from '../../src/tables/timeline.ts'

const orNull = (list: readonly unknown[]) => (list.length === 0 ? undefined : JSON.stringify(list))

const inserted = entriesTable.unnest<Entry>(
  {
    position: ({ position }) => position,
    place: () => 0,
    namespace_id: ({ namespaceId }) => namespaceId,
    stream_id: ({ streamId }) => streamId,
    first_revision: ({ firstRevision }) => firstRevision,
    revision: ({ revision }) => revision,
    through: ({ through }) => through,
    at: ({ at }) => at,
    type: ({ type }) => type,
    actor: ({ actor }) => actor,
    request_id: ({ requestId }) => requestId,
    added: ({ added }) => added,
    updated: ({ updated }) => updated,
    ordinal: ({ adds }) => adds[0]?.[0],
    adds: ({ adds }) => orNull(adds),
    updates: ({ updates }) => orNull(updates),
    is_of_usage: ({ isOfUsage }) => isOfUsage,
    data: ({ data }) => data && JSON.stringify(data),
  },
  ['namespace_id'],
)

const insertedTraces = entryTracesTable.unnest<readonly [traceId: string, namespaceId: string]>({
  trace_id: ([traceId]) => traceId,
  namespace_id: ([, namespaceId]) => namespaceId,
})

const insertedObsolete = obsoleteEntriesTable.unnest<Erasing>({
  stream_id: ({ streamId }) => streamId,
  before: ({ revision }) => revision,
  position: ({ position }) => position,
})

const insertedRuns = restatedRunsTable.unnest<RestatedRun>({
  stream_id: ({ streamId }) => streamId,
  revision: ({ revision }) => revision,
  since: ({ since }) => since,
  ordinal: ({ ordinal }) => ordinal,
  length: ({ length }) => length,
})

/** Events before which restatements of their trace end: the one with this `since` has the present messages, others were broken off. */
const restatementEnds = restatedRunsTable.unnest<Erasing>(
  {
    stream_id: ({ streamId }) => streamId,
    revision: ({ revision }) => revision,
    since: ({ type, data }) => (type === 'HistoryErased' ? data.since : undefined),
  },
  ['since'],
)

const placeRestated = `
  update entries e set adds = r.adds, ordinal = r.first from ${restatementEnds.as('u')} cross join lateral (
    select json_agg(json_build_array(n.ordinal, n.revision, n.length) order by n.revision) as adds, min(n.ordinal) as first
    from restated_runs n where n.stream_id = u.stream_id and n.since = u.since and n.revision < u.revision
  ) r where r.adds is not null and e.stream_id = u.stream_id and e.revision = u.revision and e.place = 0`

const removeRestated = `
  delete from restated_runs n using ${restatementEnds.as('u')} where n.stream_id = u.stream_id and n.revision < u.revision`

const others = inserted.columns.split(', ').filter((column) => column !== 'namespace_id')

/** An entry of a trace belongs to the namespace of the trace, which is stored already. */
const insertEntries = `
  insert into entries (namespace_id, ${others.join(', ')})
  select ${required('coalesce(u.namespace_id, t.namespace_id)', 'uuid', 'u.stream_id')}, ${others.map((column) => `u.${column}`).join(', ')}
  from ${inserted.as('u')}
  left join lateral (select r.namespace_id from entry_traces r where r.trace_id = u.stream_id limit 1) t on true`

const upsertTraces = `${insertedTraces.insert} order by 1 on conflict (trace_id) do nothing`

const upsertObsolete = `
  ${insertedObsolete.insert} order by 1 on conflict (stream_id) do update set before = excluded.before, position = excluded.position`

/** Sets the last revision of each append. A batch has whole appends, so it has the last entry of each. */
const closeAppends = (entries: readonly Entry[]) => {
  const ends = new Map<string, bigint>()
  for (const { appendId, streamId, revision } of entries) ends.set(`${streamId}/${appendId}`, revision)
  for (const entry of entries) entry.through = ends.get(`${entry.streamId}/${entry.appendId}`)!
}

/** Writes the changes of a batch. */
const writeChanges = ({ entries, traces, erasing, restated }: Changes, write: WriteStatement): void => {
  closeAppends(entries)
  if (restated.length > 0) write('timeline-restated', insertedRuns.insert, insertedRuns.values(restated))
  if (traces.size > 0) write('timeline-traces', upsertTraces, insertedTraces.values([...traces]))
  if (entries.length > 0) write('timeline-insert', insertEntries, inserted.values(entries))
  if (erasing.size === 0) return
  const all = [...erasing.values()]
  write('timeline-obsolete', upsertObsolete, insertedObsolete.values(all))
  writeRecordedEntries(all, write)
  write('timeline-place-restated', placeRestated, restatementEnds.values(all))
  write('timeline-remove-restated', removeRestated, restatementEnds.values(all))
}

/** The timeline of traces and namespaces, for audits. */
export const timeline = projectionOf<NamespaceEvent | TraceEvent>()<Changes>({
  name: 'timeline',
  // The index of deletions is needed during a rebuild as well.
  tables: `${entriesTable.create} ${entryTracesTable.create} ${obsoleteEntriesTable.create} ${restatedRunsTable.create}
    create index entries_deletions on entries (stream_id) where type = 'TraceDeleted';`,
  rows: {
    entries: { trace: 'stream_id', namespace: 'stream_id' },
    entry_traces: { trace: 'trace_id' },
    obsolete_entries: { trace: 'stream_id' },
    restated_runs: { trace: 'stream_id' },
  },
  // The second index finds the few entries that are not of messages, the third one where a message was added. The others are orders of a
  // namespace's timeline: by time, without messages, and of one actor.
  indexes: `
    create index entries_of_stream on entries (stream_id, revision);
    create index entries_of_changes on entries (stream_id, revision)
      where type <> '${MESSAGES_UPSERTED}' or updates is not null;
    create index entries_of_messages on entries (stream_id, ordinal) where ordinal is not null;
    create index entries_of_namespace on entries (namespace_id, position, place);
    create index entries_of_time on entries (uuid_hash(namespace_id), at, position);
    create index entries_but_messages on entries (namespace_id, position, place) where type <> '${MESSAGES_UPSERTED}';
    create index entries_of_actor on entries (namespace_id, actor, position, place);`,
  start: () => ({ entries: [], last: new Map(), traces: new Map(), erasing: new Map(), restated: [] }),
  on: {
    TraceCreated: traceCreated,
    TraceArriving: 'ignored', // there is no trace yet
    TraceUpdated: ofTrace,
    TraceSummarised: ofTrace,
    MessageAdded: messageAdded,
    MessageUpdated: messageUpdated,
    MessagesCounted: messagesCounted,
    MessageRestated: messageRestated,
    HistoryErased: historyErased,
    TraceDeleted: traceDeleted,
    NamespaceCreated: ofNamespace,
    NamespaceUpdated: ofNamespace,
    AvatarChanged: ofNamespace,
    RetentionChanged: ofNamespace,
    MemberJoined: (changes, event) => ofNamespace(changes, event, withMaskedCode(event.data)),
    MemberRoleChanged: ofNamespace,
    MemberRemoved: ofNamespace,
    InviteCreated: (changes, event) => {
      const { email: _, ...data } = event.data
      ofNamespace(changes, event, withMaskedCode(data))
    },
    InviteRevoked: (changes, event) => ofNamespace(changes, event, withMaskedCode(event.data)),
  },
  write: writeChanges,
})
