import { projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { jsons, uuids } from '../src/postgres/arrays.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import {
  ignoredModelsEvents,
  ignoredNamespaceEvents,
  ignoredSessionEvents,
  ignoredTraceEvents,
} from './support/ignored.ts'

/** `display_name` is a JSON string literal. */
export type UsersTable = { id: string; display_name: string | null }

type Row = { readonly id: string; readonly displayName?: string | undefined }

const columns = (rows: readonly Row[]) => [
  uuids(rows.map(({ id }) => id)),
  jsons(rows.map(({ displayName }) => literal(displayName))),
]

/** Users. */
export const users = projectionOf<AnyEvent>()<ChangedRows<Row>>({
  name: 'users',
  tables: 'create table users (id uuid primary key, display_name json);',
  rows: { users: { user: 'id' } },
  indexes: '',
  start: changedRows,
  on: {
    UserCreated: ({ created }, { streamId: id, data: { displayName } }) => void created.set(id, { id, displayName }),
    UserRenamed: (rows, { streamId: id, data: { displayName } }) => change(rows, id, { id, displayName }),
    IdentityCreated: 'ignored',
    IdentityRefreshed: 'ignored',
    IdentityRemoved: 'ignored',
    ...ignoredSessionEvents,
    ...ignoredNamespaceEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) {
      write(
        'users-insert',
        'insert into users select * from unnest($1::uuid[], $2::json[])',
        columns([...created.values()]),
      )
    }
    if (changed.size > 0) {
      write(
        'users-update',
        `update users u set display_name = c.display_name
         from unnest($1::uuid[], $2::json[]) c (id, display_name) where u.id = c.id`,
        columns([...changed.values()] as Row[]),
      )
    }
  },
})
