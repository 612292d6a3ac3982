import type { Group } from '../../../../src/eventstore/engine/group.ts'
import { projectionOf } from '../../../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../../../src/server/trace/events.ts'
import { texts, uuids } from '../../../../src/eventstore/postgres/arrays.ts'

type Changes = { readonly put: Map<string, string>; readonly taken: Set<string> }

/** A small read model: the existing traces by their `externalId`. */
const books = projectionOf<TraceEvent>()<Changes>({
  name: 'books',
  tables: 'create table books (trace_id uuid primary key, name text not null);',
  rows: { books: { trace: 'trace_id' } },
  indexes: 'create index books_name on books (name);',
  start: () => ({ put: new Map(), taken: new Set() }),
  on: {
    TraceCreated: ({ put }, { streamId, data: { externalId } }) => void put.set(streamId, externalId),
    TraceDeleted: ({ put, taken }, { streamId }) => {
      put.delete(streamId)
      taken.add(streamId)
    },
    HistoryErased: 'ignored',
    MessageRestated: 'ignored',
    TraceArriving: 'ignored',
    TraceUpdated: 'ignored',
    MessageAdded: 'ignored',
    MessageUpdated: 'ignored',
    MessagesCounted: 'ignored',
    TraceSummarised: 'ignored',
  },
  write: ({ put, taken }, write) => {
    if (taken.size > 0) write('books-take', 'delete from books where trace_id = any($1::uuid[])', [uuids([...taken])])
    if (put.size > 0)
      write('books-put', 'insert into books select * from unnest($1::uuid[], $2::text[])', [
        uuids([...put.keys()]),
        texts([...put.values()]),
      ])
  },
})

/** A group of read models besides the main one, with a name, a version and a list of projections. */
export const shelf: Group = { name: 'shelf', version: 2, projections: [books] }
