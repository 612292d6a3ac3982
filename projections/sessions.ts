import { type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { SessionEvent } from '../src/server/session/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import { sessionsTable } from '../src/tables/main.ts'

type Created = Extract<SessionEvent, { type: 'SessionCreated' }>['data']
type Change = {
  readonly id: string
  readonly namespaceId?: string | undefined
  readonly revokedAt?: number | undefined
}
type Row = Created & Change & { readonly createdAt: number }

const changing = {
  id: ({ id }: Change) => id,
  namespace_id: ({ namespaceId }: Change) => namespaceId,
  revoked_at: ({ revokedAt }: Change) => revokedAt,
}

const inserted = sessionsTable.unnest<Row>({
  ...changing,
  user_id: ({ userId }) => userId,
  identity_id: ({ identityId }) => identityId,
  token_hash: ({ tokenHash }) => tokenHash,
  parent_session_id: ({ parentSessionId }) => parentSessionId,
  device_name: ({ deviceName }) => literal(deviceName),
  created_at: ({ createdAt }) => createdAt,
  expires_at: ({ expiresAt }) => expiresAt,
})

const updated = sessionsTable.unnest<Change>(changing)

const update = (rows: readonly Change[], write: WriteStatement) =>
  write(
    'sessions-update',
    `update sessions s set namespace_id = coalesce(c.namespace_id, s.namespace_id),
       revoked_at = coalesce(c.revoked_at, s.revoked_at)
     from ${updated.as('c')} where s.id = c.id`,
    updated.values(rows),
  )

/** Sessions, also ended ones. The time of their last use is in the operational table `session_uses`. */
export const sessions = projectionOf<SessionEvent>()<ChangedRows<Row>>({
  name: 'sessions',
  tables: sessionsTable.create,
  rows: { sessions: { session: 'id' } },
  indexes: `
    create unique index sessions_token on sessions (token_hash);
    create index sessions_user on sessions (user_id);`,
  start: changedRows,
  on: {
    SessionCreated: ({ created }, { streamId: id, at: createdAt, data }) =>
      void created.set(id, { id, createdAt, ...data }),
    SessionSwitched: (rows, { streamId: id, data: { namespaceId } }) => change(rows, id, { id, namespaceId }),
    SessionRevoked: (rows, { streamId: id, at: revokedAt }) => change(rows, id, { id, revokedAt }),
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) write('sessions-insert', inserted.insert, inserted.values([...created.values()]))
    if (changed.size > 0) update([...changed.values()] as Change[], write)
  },
})
