import type { WriteStatement } from '../../src/engine/projection.ts'
import { required } from '../support/sql.ts'
import { type Erasing, writeRecordedEntries } from './recorded-entries.ts'
import type { Changes, Entry } from './entries.ts'
import { entriesTable, obsoleteEntriesTable, entryTracesTable } from './tables.ts'

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
export const writeChanges = ({ entries, traces, erasing }: Changes, write: WriteStatement): void => {
  closeAppends(entries)
  if (traces.size > 0) write('timeline-traces', upsertTraces, insertedTraces.values([...traces]))
  if (entries.length > 0) write('timeline-insert', insertEntries, inserted.values(entries))
  if (erasing.size === 0) return
  const all = [...erasing.values()]
  write('timeline-obsolete', upsertObsolete, insertedObsolete.values(all))
  writeRecordedEntries(all, write)
}
