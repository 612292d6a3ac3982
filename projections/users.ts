import { projectionOf } from '../src/eventstore/engine/projection.ts'
import type { UserEvent } from '../src/server/user/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import { usersTable } from '../src/tables/main.ts'

type Row = { readonly id: string; readonly displayName?: string | undefined }

const written = usersTable.unnest<Row>({ id: ({ id }) => id, display_name: ({ displayName }) => literal(displayName) })

/** Users. */
export const users = projectionOf<UserEvent>()<ChangedRows<Row>>({
  name: 'users',
  tables: usersTable.create,
  rows: { users: { user: 'id' } },
  indexes: '',
  start: changedRows,
  on: {
    UserCreated: ({ created }, { streamId: id, data: { displayName } }) => void created.set(id, { id, displayName }),
    UserRenamed: (rows, { streamId: id, data: { displayName } }) => change(rows, id, { id, displayName }),
    IdentityRemoved: 'ignored',
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) write('users-insert', written.insert, written.values([...created.values()]))
    if (changed.size > 0) {
      write(
        'users-update',
        `update users u set display_name = c.display_name from ${written.as('c')} where u.id = c.id`,
        written.values([...changed.values()] as Row[]),
      )
    }
  },
})
