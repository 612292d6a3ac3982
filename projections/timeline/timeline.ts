import { projectionOf } from '../../src/engine/projection.ts'
import type { NamespaceEvent } from '../../src/namespace/events.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import {
  type Changes,
  historyErased,
  messageAdded,
  messageUpdated,
  messagesCounted,
  ofNamespace,
  ofTrace,
  traceCreated,
  traceDeleted,
  withMaskedCode,
} from './entries.ts'
import { MESSAGES_UPSERTED, entriesTable, obsoleteEntriesTable, entryTracesTable } from './tables.ts'
import { writeChanges } from './write.ts'

/** The timeline of traces and namespaces, for audits. */
export const timeline = projectionOf<NamespaceEvent | TraceEvent>()<Changes>({
  name: 'timeline',
  // The index of deletions is needed during a rebuild as well.
  tables: `${entriesTable.create} ${entryTracesTable.create} ${obsoleteEntriesTable.create}
    create index entries_deletions on entries (stream_id) where type = 'TraceDeleted';`,
  rows: {
    entries: { trace: 'stream_id', namespace: 'stream_id' },
    entry_traces: { trace: 'trace_id' },
    obsolete_entries: { trace: 'stream_id' },
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
  start: () => ({ entries: [], last: new Map(), traces: new Map(), erasing: new Map() }),
  on: {
    TraceCreated: traceCreated,
    TraceUpdated: ofTrace,
    TraceSummarised: ofTrace,
    MessageAdded: messageAdded,
    MessageUpdated: messageUpdated,
    MessagesCounted: messagesCounted,
    MessageRestated: 'ignored',
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
