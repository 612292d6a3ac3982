import { type DecodedEvent, type WriteStatement, projectionOf } from '../../src/engine/projection.ts'
import type { AnyEvent } from '../../src/events.ts'
import type { TraceEvent } from '../../src/trace/events.ts'
import { ignoredModelsEvents, ignoredSessionEvents, ignoredUserEvents } from '../support/ignored.ts'
import { erasedFrom } from '../support/vacuum.ts'
import { type RowOf, tableOf } from '../table.ts'

/** The type of the entry that all message events of a request make. */
export const MESSAGES_UPSERTED = 'MessagesUpserted'

/**
 * Who did what to a trace or a namespace: one row for each event, but one for all message events of a request. `stream_id`
 * is the id of the trace, or of the namespace for its own events. `position` and `revision` are those of the row's last
 * event, `through` is the last revision of its append. `data` is JSON text: what the event said, without secrets; of
 * messages the counts after them, null where they did not move. `adds` and `updates` say where in the log the events of
 * messages are: runs of `[ordinal, revision, length]`, and `[ordinal, revision, whether its place in the list moved]`.
 * `place` orders the deletions that a later one tells of, where no rows of their own were there.
 */
const entries = tableOf(
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
    data: 'json',
  },
  { constraint: 'primary key (position, place)', storage: erasedFrom },
)
export type EntriesTable = RowOf<typeof entries>

/** The namespace of each trace that there ever was: its later entries belong to it too. */
const tracesTable = tableOf('entry_traces', { trace_id: 'uuid primary key', namespace_id: 'uuid not null' })
export type EntryTracesTable = RowOf<typeof tracesTable>

/** Entries of this trace before the revision `before` belong to a deleted trace and have to be deleted. */
const leftovers = tableOf('entry_leftovers', { stream_id: 'uuid primary key', before: 'int8 not null' })
export type EntryLeftoversTable = RowOf<typeof leftovers>

type Entry = {
  readonly streamId: string
  /** Undefined for the entries of a trace behind its first: they belong to its namespace. */
  readonly namespaceId: string | undefined
  readonly firstRevision: bigint
  readonly at: number
  readonly type: string
  readonly actor: string | undefined
  readonly requestId: string | undefined
  readonly appendId: string
  revision: bigint
  position: bigint
  through: bigint
  added: number | undefined
  updated: number | undefined
  readonly adds: [ordinal: number, revision: number, length: number][]
  readonly updates: [ordinal: number, revision: number, moved: 0 | 1][]
  data: object | undefined
}

type Deleted = DecodedEvent<Extract<TraceEvent, { type: 'TraceDeleted' }>>

type Changes = {
  entries: Entry[]
  /** The last entry of each stream. */
  readonly last: Map<string, Entry>
  /** Traces by id, with the ids of their namespaces. */
  readonly traces: Map<string, string>
  /** The newest deletion of each trace. */
  readonly deleted: Map<string, Deleted>
}

const entryOf = (event: DecodedEvent, namespaceId: string | undefined, type: string, data?: object): Entry => ({
  streamId: event.streamId,
  namespaceId,
  firstRevision: event.firstRevision,
  revision: event.revision,
  through: event.revision,
  position: event.position,
  at: event.at,
  type,
  actor: event.actor?.userId,
  requestId: event.requestId,
  appendId: event.appendId,
  added: undefined,
  updated: undefined,
  adds: [],
  updates: [],
  data,
})

const add = (changes: Changes, entry: Entry) => {
  changes.entries.push(entry)
  changes.last.set(entry.streamId, entry)
}

/** The entry of a request's messages: requests that share an append have entries of their own. */
const messagesEntry = (changes: Changes, event: DecodedEvent): Entry => {
  const last = changes.last.get(event.streamId)
  const { appendId, requestId, actor } = event
  const isSame =
    last?.type === MESSAGES_UPSERTED &&
    last.appendId === appendId &&
    last.requestId === requestId &&
    last.actor === actor?.userId
  if (isSame) {
    last.revision = event.revision
    last.position = event.position
    return last
  }
  const entry = { ...entryOf(event, undefined, MESSAGES_UPSERTED), added: 0, updated: 0 }
  add(changes, entry)
  return entry
}

/** Only the first message of a run is read: the events of the others follow it without a gap, and so do their ordinals. */
const messageAdded = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'MessageAdded' }>>) => {
  const entry = messagesEntry(changes, event)
  const revision = Number(event.revision)
  const run = entry.adds.at(-1)
  if (run && run[1] + run[2] === revision) run[2] += 1
  else entry.adds.push([event.data.ordinal, revision, 1])
  entry.added! += 1
}

const PLACED_BY: ReadonlySet<string> = new Set(['/order', '/timestamp'])

const messageUpdated = (changes: Changes, event: DecodedEvent<Extract<TraceEvent, { type: 'MessageUpdated' }>>) => {
  const entry = messagesEntry(changes, event)
  const { ordinal, patch } = event.data
  entry.updates.push([ordinal, Number(event.revision), patch.some(({ path }) => PLACED_BY.has(path)) ? 1 : 0])
  entry.updated! += 1
}

/** Invites are secrets: of a code as much is shown as tells one from another. */
const withMaskedCode = <Data extends { code?: string | undefined }>(data: Data): Data =>
  data.code === undefined ? data : { ...data, code: `${data.code.slice(0, 4)}…` }

const told = (changes: Changes, event: DecodedEvent, data: object = event.data) =>
  add(changes, entryOf(event, event.streamId, event.type, data))

const ofTrace = (changes: Changes, event: DecodedEvent) =>
  add(changes, entryOf(event, undefined, event.type, event.data))

/** What is told of a deletion: nothing of the trace but its name, how long it was there and how much it held. */
const deletionData = (externalId: string, createdAt: number, messageCount: number | undefined) => ({
  externalId,
  createdAt,
  ...(messageCount === undefined ? {} : { messageCount }),
})

const traceDeleted = (changes: Changes, event: Deleted) => {
  const { streamId, data } = event
  const { externalId, namespaceId, createdAt, messageCount } = data
  changes.entries = changes.entries.filter((entry) => entry.streamId !== streamId || entry.type === event.type)
  changes.traces.set(streamId, namespaceId)
  changes.deleted.set(streamId, event)
  add(changes, entryOf(event, namespaceId, event.type, deletionData(externalId, createdAt, messageCount)))
}

const orNull = (list: readonly unknown[]) => (list.length === 0 ? undefined : JSON.stringify(list))

const inserted = entries.unnest<Entry>({
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
  data: ({ data }) => data && JSON.stringify(data),
})

const insertedTraces = tracesTable.unnest<readonly [traceId: string, namespaceId: string]>({
  trace_id: ([traceId]) => traceId,
  namespace_id: ([, namespaceId]) => namespaceId,
})

const insertedLeftovers = leftovers.unnest<readonly [streamId: string, event: Deleted]>({
  stream_id: ([streamId]) => streamId,
  before: ([, { revision }]) => revision,
})

const others = inserted.columns.split(', ').filter((column) => column !== 'namespace_id')

/** An entry of a trace belongs to the namespace of the trace, which is stored by then; without one the table refuses it. */
const insertEntries = `
  insert into entries (namespace_id, ${others.join(', ')})
  select coalesce(u.namespace_id, t.namespace_id), ${others.map((column) => `u.${column}`).join(', ')}
  from ${inserted.as('u')}
  left join lateral (select r.namespace_id from entry_traces r where r.trace_id = u.stream_id limit 1) t on true`

/** A deletion before another one of the same trace; `rank` counts from 1 for the newest of them. */
type EarlierDeletion = {
  readonly last: Deleted
  readonly rank: number
  readonly of: Deleted['data']['earlier'][number]
}

const earlierOf = (last: Deleted): EarlierDeletion[] =>
  last.data.earlier.toReversed().map((of, i) => ({ last, rank: i + 1, of }))

const buried = entries.unnest<EarlierDeletion>({
  position: ({ last }) => last.position,
  place: ({ rank }) => rank,
  namespace_id: ({ last }) => last.data.namespaceId,
  stream_id: ({ last }) => last.streamId,
  revision: ({ last }) => last.revision,
  at: ({ of }) => of.deletedAt,
  actor: ({ of }) => of.deletedBy,
  data: ({ last, of }) => JSON.stringify(deletionData(last.data.externalId, of.createdAt, of.messageCount)),
})

// A deletion erases the events of those before it, and says itself what is left of them: their rows are made of that, so that
// they are the same when the log is read again. Rows that are there stay where they are in the order of the log.
const tellEarlier = `
  with u as materialized (select * from ${buried.as('b')}),
  old as materialized (
    select s.stream_id, e.position, e.place,
      row_number() over (partition by s.stream_id order by e.position desc, e.place desc)::int4 as rank
    from (select distinct stream_id, position from u) s cross join lateral (
      select r.position, r.place from entries r
      where r.stream_id = s.stream_id and r.type = 'TraceDeleted' and r.position < s.position
    ) e
  ), kept as (
    update entries e set at = u.at, actor = u.actor, request_id = null, data = u.data
    from old join u on u.stream_id = old.stream_id and u.place = old.rank
    where e.position = old.position and e.place = old.place
  ), dropped as (
    delete from entries e using old
    where e.position = old.position and e.place = old.place
      and not exists (select from u where u.stream_id = old.stream_id and u.place = old.rank)
  )
  insert into entries (position, place, namespace_id, stream_id, first_revision, revision, through, at, type, actor, data)
  select u.position, -u.place, u.namespace_id, u.stream_id, u.revision, u.revision, u.revision, u.at, 'TraceDeleted', u.actor, u.data
  from u where not exists (select from old where old.stream_id = u.stream_id and old.rank = u.place)`

const upsertTraces = `${insertedTraces.insert} order by 1 on conflict (trace_id) do nothing`

const upsertLeftovers = `
  ${insertedLeftovers.insert} order by 1 on conflict (stream_id) do update set before = excluded.before`

/** A batch holds whole appends: the last entry of each append in it says where the append ends. */
const closeAppends = (entries: readonly Entry[]) => {
  const ends = new Map<string, bigint>()
  for (const { appendId, streamId, revision } of entries) ends.set(`${streamId}/${appendId}`, revision)
  for (const entry of entries) entry.through = ends.get(`${entry.streamId}/${entry.appendId}`)!
}

const writeChanges = ({ entries, traces, deleted }: Changes, write: WriteStatement) => {
  closeAppends(entries)
  if (traces.size > 0) write('timeline-traces', upsertTraces, insertedTraces.values([...traces]))
  if (entries.length > 0) write('timeline-insert', insertEntries, inserted.values(entries))
  if (deleted.size === 0) return
  write('timeline-leftovers', upsertLeftovers, insertedLeftovers.values([...deleted]))
  const earlier = [...deleted.values()].flatMap(earlierOf)
  if (earlier.length > 0) write('timeline-earlier', tellEarlier, buried.values(earlier))
}

/** The timeline of traces and namespaces, for audits. */
export const timeline = projectionOf<AnyEvent>()<Changes>({
  name: 'timeline',
  // The index of deletions is needed while the log is read for the first time, too.
  tables: `${entries.create} ${tracesTable.create} ${leftovers.create}
    create index entries_deletions on entries (stream_id) where type = 'TraceDeleted';`,
  rows: {
    entries: { trace: 'stream_id', namespace: 'stream_id' },
    entry_traces: { trace: 'trace_id' },
    entry_leftovers: { trace: 'stream_id' },
  },
  // The second finds the little that is not messages among many, the third where a message was added, the others are the order
  // of a namespace's timeline, where it has a span of time, without messages, and of one actor.
  indexes: `
    create index entries_of_stream on entries (stream_id, revision);
    create index entries_of_changes on entries (stream_id, revision)
      where type <> '${MESSAGES_UPSERTED}' or updates is not null;
    create index entries_of_messages on entries (stream_id, ordinal) where ordinal is not null;
    create index entries_of_namespace on entries (namespace_id, position, place);
    create index entries_of_time on entries (uuid_hash(namespace_id), at, position);
    create index entries_but_messages on entries (namespace_id, position, place) where type <> '${MESSAGES_UPSERTED}';
    create index entries_of_actor on entries (namespace_id, actor, position, place);`,
  start: () => ({ entries: [], last: new Map(), traces: new Map(), deleted: new Map() }),
  on: {
    TraceCreated: (changes, event) => {
      const { namespaceId } = event.data
      changes.traces.set(event.streamId, namespaceId)
      add(changes, entryOf(event, namespaceId, event.type, event.data))
    },
    TraceUpdated: ofTrace,
    TraceSummarised: ofTrace,
    MessageAdded: messageAdded,
    MessageUpdated: messageUpdated,
    MessagesCounted: (changes, event) => void (messagesEntry(changes, event).data = event.data),
    TraceDeleted: traceDeleted,
    NamespaceCreated: told,
    NamespaceUpdated: told,
    AvatarChanged: told,
    RetentionChanged: told,
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
