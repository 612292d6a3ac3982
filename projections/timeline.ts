import { type DecodedEvent, type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { ignoredModelsEvents, ignoredSessionEvents, ignoredUserEvents } from './support/ignored.ts'
import { byKey } from './support/by-key.ts'
import { erasedFrom } from './support/vacuum.ts'
import { type RowOf, tableOf } from './table.ts'

/**
 * Who did what to a trace or a namespace: one row for each event, but one for all message events of a request. `position` and
 * `revision` are those of the row's last event; `trace_id` is null for events of the namespace itself. `data` is what the
 * row is told by, as JSON text: the event's data without secrets, for messages the counts after them.
 */
const entries = tableOf(
  'entries',
  {
    position: 'int8 primary key',
    namespace_id: 'uuid not null',
    trace_id: 'uuid',
    first_revision: 'int8 not null',
    revision: 'int8 not null',
    at: 'int8 not null',
    type: 'text collate "C" not null',
    actor: 'text collate "C"',
    request_id: 'text collate "C"',
    added: 'int4',
    updated: 'int4',
    data: 'json not null',
  },
  { storage: erasedFrom },
)
export type EntriesTable = RowOf<typeof entries>

/** The namespace of each trace, and of the newest deletion its revision: of what was before only deletions may be shown. */
const tracesTable = tableOf('entry_traces', {
  trace_id: 'uuid primary key',
  namespace_id: 'uuid not null',
  external_id: 'text collate "C" not null',
  deleted: 'int8',
})
export type EntryTracesTable = RowOf<typeof tracesTable>

/** The type of the entry that all message events of a request make. */
export const MESSAGES_UPSERTED = 'MessagesUpserted'

type Entry = {
  readonly streamId: string
  readonly isTrace: boolean
  readonly firstRevision: bigint
  readonly at: number
  readonly type: string
  readonly actor: string | undefined
  readonly requestId: string | undefined
  readonly appendId: string
  revision: bigint
  position: bigint
  added: number | undefined
  updated: number | undefined
  data: object
}

type NewTrace = { readonly traceId: string; readonly namespaceId: string; readonly externalId: string }

type Changes = {
  entries: Entry[]
  /** The last entry of each stream. */
  readonly last: Map<string, Entry>
  readonly created: Map<string, NewTrace>
  readonly deleted: Map<string, bigint>
}

const entryOf = (event: DecodedEvent, isTrace: boolean, type: string, data: object): Entry => ({
  streamId: event.streamId,
  isTrace,
  firstRevision: event.revision,
  revision: event.revision,
  position: event.position,
  at: event.at,
  type,
  actor: event.actor?.userId,
  requestId: event.requestId,
  appendId: event.appendId,
  added: undefined,
  updated: undefined,
  data,
})

const add = (changes: Changes, entry: Entry) => {
  changes.entries.push(entry)
  changes.last.set(entry.streamId, entry)
}

/** The entry of a request's messages: requests that share an append have entries of their own. */
const messagesEntry = (changes: Changes, event: DecodedEvent): Entry => {
  const last = changes.last.get(event.streamId)
  const { appendId, requestId } = event
  if (last?.type === MESSAGES_UPSERTED && last.appendId === appendId && last.requestId === requestId) {
    last.revision = event.revision
    last.position = event.position
    return last
  }
  const entry = { ...entryOf(event, true, MESSAGES_UPSERTED, {}), added: 0, updated: 0 }
  add(changes, entry)
  return entry
}

/** Invites are secrets: of a code as much is shown as tells one from another. */
const withMaskedCode = <Data extends { code?: string | undefined }>(data: Data): Data =>
  data.code === undefined ? data : { ...data, code: `${data.code.slice(0, 4)}…` }

const told = (changes: Changes, event: DecodedEvent, data: object = event.data) =>
  add(changes, entryOf(event, false, event.type, data))

const inserted = entries.unnest<Entry>({
  position: ({ position }) => position,
  trace_id: ({ streamId, isTrace }) => (isTrace ? streamId : undefined),
  namespace_id: ({ streamId }) => streamId,
  first_revision: ({ firstRevision }) => firstRevision,
  revision: ({ revision }) => revision,
  at: ({ at }) => at,
  type: ({ type }) => type,
  actor: ({ actor }) => actor,
  request_id: ({ requestId }) => requestId,
  added: ({ added }) => added,
  updated: ({ updated }) => updated,
  data: ({ data }) => JSON.stringify(data),
})

const insertedTraces = tracesTable.unnest<NewTrace>({
  trace_id: ({ traceId }) => traceId,
  namespace_id: ({ namespaceId }) => namespaceId,
  external_id: ({ externalId }) => externalId,
})

const markedDeleted = tracesTable.unnest<readonly [traceId: string, revision: bigint]>({
  trace_id: ([traceId]) => traceId,
  deleted: ([, revision]) => revision,
})

const NAMESPACE = 'coalesce(t.namespace_id, u.namespace_id)'
const others = inserted.columns.split(', ').filter((column) => column !== 'namespace_id')

/** An entry of a trace belongs to the namespace of the trace, which is stored by then. */
const insertEntries = `
  insert into entries (namespace_id, ${others.join(', ')})
  select ${NAMESPACE}, ${others.map((column) => `u.${column}`).join(', ')} from ${inserted.as('u')}
  left join lateral (select r.namespace_id from entry_traces r where r.trace_id = u.trace_id limit 1) t on true`

const upsertTraces = `
  ${insertedTraces.insert} order by 1
  on conflict (trace_id) do update set namespace_id = excluded.namespace_id, external_id = excluded.external_id`

const markDeleted = `
  update entry_traces t set deleted = u.deleted from ${markedDeleted.as('u')}
    ${byKey('entry_traces', 'r.trace_id = u.trace_id')}
  where t.ctid = found.ctid`

const writeChanges = ({ entries, created, deleted }: Changes, write: WriteStatement) => {
  if (created.size > 0) write('timeline-traces', upsertTraces, insertedTraces.values([...created.values()]))
  if (entries.length > 0) write('timeline-insert', insertEntries, inserted.values(entries))
  if (deleted.size > 0) write('timeline-deleted', markDeleted, markedDeleted.values([...deleted]))
}

/** The timeline of traces and namespaces, for audits. */
export const timeline = projectionOf<AnyEvent>()<Changes>({
  name: 'timeline',
  tables: `${entries.create} ${tracesTable.create}`,
  rows: { entries: { trace: 'trace_id' }, entry_traces: { trace: 'trace_id' } },
  indexes: `
    create index entries_of_trace on entries (trace_id, revision) where trace_id is not null;
    create index entries_of_namespace on entries (namespace_id, position);`,
  start: () => ({ entries: [], last: new Map(), created: new Map(), deleted: new Map() }),
  on: {
    TraceCreated: (changes, event) => {
      const { streamId: traceId, data } = event
      changes.created.set(traceId, { traceId, namespaceId: data.namespaceId, externalId: data.externalId })
      add(changes, entryOf(event, true, event.type, data))
    },
    TraceUpdated: (changes, event) => add(changes, entryOf(event, true, event.type, event.data)),
    TraceSummarised: (changes, event) => add(changes, entryOf(event, true, event.type, event.data)),
    MessageAdded: (changes, event) => void (messagesEntry(changes, event).added! += 1),
    MessageUpdated: (changes, event) => void (messagesEntry(changes, event).updated! += 1),
    MessagesCounted: (changes, event) => void (messagesEntry(changes, event).data = event.data),
    TraceDeleted: (changes, event) => {
      const { streamId } = event
      changes.entries = changes.entries.filter((entry) => entry.streamId !== streamId || entry.type === event.type)
      changes.deleted.set(streamId, event.revision)
      add(changes, entryOf(event, true, event.type, event.data))
    },
    NamespaceCreated: told,
    NamespaceUpdated: told,
    AvatarChanged: told,
    MemberJoined: (changes, event) => told(changes, event, withMaskedCode(event.data)),
    MemberRoleChanged: told,
    MemberRemoved: told,
    InviteCreated: (changes, event) => {
      const { email: _, ...data } = event.data
      told(changes, event, withMaskedCode(data))
    },
    InviteRevoked: (changes, event) => told(changes, event, withMaskedCode(event.data)),
    ...ignoredUserEvents,
    ...ignoredSessionEvents,
    ...ignoredModelsEvents,
  },
  write: writeChanges,
})
