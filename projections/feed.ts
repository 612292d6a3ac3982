import { projectionOf } from '../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../src/server/trace/events.ts'
import { uuids } from '../src/eventstore/postgres/arrays.ts'
import { byKey } from './support/sql.ts'
import { feedTable } from '../src/tables/main.ts'

type Entry = { readonly id: string; readonly namespaceId: string; readonly createdAt: number; visibility: string }

type Changes = {
  readonly added: Map<string, Entry>
  readonly changed: Map<string, string>
  readonly deleted: Set<string>
}

const inserted = feedTable.unnest<Entry>({
  id: ({ id }) => id,
  namespace_id: ({ namespaceId }) => namespaceId,
  created_at: ({ createdAt }) => createdAt,
  visibility: ({ visibility }) => visibility,
})

const updated = feedTable.unnest<readonly [id: string, visibility: string]>({
  id: ([id]) => id,
  visibility: ([, visibility]) => visibility,
})

/**
 * The order of all lists of traces. Holds only columns that never change, and the visibility: columns that messages change
 * are in `traces` and `counts`, so that messages never touch the indexes of this table.
 */
export const feed = projectionOf<TraceEvent>()<Changes>({
  name: 'feed',
  tables: feedTable.create,
  rows: { feed: { trace: 'id' } },
  indexes: `
    create index feed_public on feed (created_at desc, id desc) include (namespace_id) where visibility = 'public';
    create index feed_namespace on feed (namespace_id, created_at desc, id desc);
    create index feed_namespace_public on feed (namespace_id, created_at desc, id desc) where visibility = 'public';`,
  start: () => ({ added: new Map(), changed: new Map(), deleted: new Set() }),
  on: {
    TraceCreated: ({ added }, { streamId: id, at, data: { namespaceId, visibility } }) =>
      void added.set(id, { id, namespaceId, createdAt: at, visibility }),
    TraceUpdated: ({ added, changed }, { streamId: id, data: { patch } }) => {
      const operation = patch.find(({ path }) => path === '/visibility')
      if (!operation || operation.op === 'remove') return
      const entry = added.get(id)
      if (entry) entry.visibility = operation.value as string
      else changed.set(id, operation.value as string)
    },
    TraceDeleted: ({ added, changed, deleted }, { streamId: id }) => {
      added.delete(id)
      changed.delete(id)
      deleted.add(id)
    },
    HistoryErased: ({ added, changed, deleted }, { streamId: id, data: { namespaceId, createdAt, visibility } }) => {
      changed.delete(id)
      deleted.add(id)
      added.set(id, { id, namespaceId, createdAt, visibility })
    },
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    MessageAdded: 'ignored',
    MessageUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ added, changed, deleted }, write) => {
    if (deleted.size > 0) write('feed-delete', 'delete from feed where id = any($1::uuid[])', [uuids([...deleted])])
    if (added.size > 0) write('feed-insert', inserted.insert, inserted.values([...added.values()]))
    if (changed.size > 0) {
      write(
        'feed-update',
        `update feed f set visibility = u.visibility from ${updated.as('u')}
           ${byKey('feed', 'r.id = u.id')} where f.ctid = found.ctid`,
        updated.values([...changed]),
      )
    }
  },
})
