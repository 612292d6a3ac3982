import { projectionOf, type DecodedEvent, type WriteStatement } from '../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { uuids } from '../src/eventstore/postgres/arrays.ts'
import { sizesTable } from '../src/tables/main.ts'

type Created = { readonly namespaceId: string; bytes: number }

type Changes = {
  readonly created: Map<string, Created>
  /** The namespaces of traces whose rows are subtracted, by trace id. */
  readonly subtracted: Map<string, string>
}

/** Only traces that this batch has created: the statement of `traces` adds the bytes of all others. */
const grow = ({ created }: Changes, { streamId: id, bytes }: DecodedEvent) => {
  const own = created.get(id)
  if (own) own.bytes += bytes
}

const added = sizesTable.unnest<readonly [namespaceId: string, { readonly traces: number; readonly bytes: number }]>({
  namespace_id: ([namespaceId]) => namespaceId,
  traces: ([, { traces }]) => traces,
  bytes: ([, { bytes }]) => bytes,
})

const add = (rows: Iterable<Created>, write: WriteStatement) => {
  const sums = new Map<string, { traces: number; bytes: number }>()
  for (const { namespaceId, bytes } of rows) {
    const sum = sums.get(namespaceId) ?? { traces: 0, bytes: 0 }
    sums.set(namespaceId, { traces: sum.traces + 1, bytes: sum.bytes + bytes })
  }
  write(
    'sizes-add',
    `${added.insert} on conflict (namespace_id)
     do update set traces = sizes.traces + excluded.traces, bytes = sizes.bytes + excluded.bytes`,
    added.values([...sums]),
  )
}

/** Subtracts the traces with these ids, by their rows in `traces`; a trace without a row was subtracted before. */
const subtract = (ids: readonly string[], write: WriteStatement) =>
  write(
    'sizes-subtract',
    `update sizes s set traces = s.traces - gone.traces, bytes = s.bytes - gone.bytes
     from (
       select namespace_id, count(*) as traces, sum(bytes)::int8 as bytes from traces where id = any($1::uuid[])
       group by namespace_id
     ) gone
     where s.namespace_id = gone.namespace_id`,
    [uuids(ids)],
  )

const removeEmpty = (namespaceIds: Iterable<string>, write: WriteStatement) =>
  write('sizes-remove', 'delete from sizes where namespace_id = any($1::uuid[]) and traces = 0', [
    uuids([...new Set(namespaceIds)]),
  ])

/**
 * The size of each namespace, for its quotas. Must come before `traces` in the list: it reads that table as it was before the batch. The
 * statement of `traces` that adds bytes to a trace adds them here as well.
 */
export const sizes = projectionOf<TraceEvent>()<Changes>({
  name: 'sizes',
  tables: sizesTable.create,
  rows: { sizes: {} },
  beforeRemoval: { trace: (id, write) => subtract([id], write) },
  indexes: '',
  start: () => ({ created: new Map(), subtracted: new Map() }),
  on: {
    TraceCreated: ({ created }, { streamId: id, data: { namespaceId } }) =>
      void created.set(id, { namespaceId, bytes: 0 }),
    MessageAdded: grow,
    MessageUpdated: grow,
    TraceDeleted: ({ created, subtracted }, { streamId: id, data: { namespaceId } }) => {
      created.delete(id)
      subtracted.set(id, namespaceId)
    },
    HistoryErased: ({ created, subtracted }, { streamId: id, data: { namespaceId, bytes } }) => {
      subtracted.set(id, namespaceId)
      created.set(id, { namespaceId, bytes })
    },
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    TraceUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ created, subtracted }, write) => {
    if (subtracted.size > 0) subtract([...subtracted.keys()], write)
    if (created.size > 0) add(created.values(), write)
    if (subtracted.size > 0) removeEmpty(subtracted.values(), write)
  },
})
