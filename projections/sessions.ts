import { type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import type { SessionEvent } from '../src/session/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import {
  ignoredModelsEvents,
  ignoredNamespaceEvents,
  ignoredTraceEvents,
  ignoredUserEvents,
} from './support/ignored.ts'

/** `device_name` is a JSON string literal; `namespace_id` is the namespace that the session was switched to. */
export type SessionsTable = {
  id: string
  user_id: string
  identity_id: string
  token_hash: string
  namespace_id: string | null
  parent_session_id: string | null
  device_name: string | null
  created_at: bigint
  expires_at: bigint | null
  revoked_at: bigint | null
}

type Created = Extract<SessionEvent, { type: 'SessionCreated' }>['data']
type Change = {
  readonly id: string
  readonly namespaceId?: string | undefined
  readonly revokedAt?: number | undefined
}
type Row = Created & Change & { readonly createdAt: number }

const changing = (rows: readonly Change[]) => [
  uuids(rows.map(({ id }) => id)),
  uuids(rows.map(({ namespaceId }) => namespaceId)),
  int8s(rows.map(({ revokedAt }) => revokedAt)),
]

const insert = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'sessions-insert',
    `insert into sessions (id, namespace_id, revoked_at, user_id, identity_id, token_hash, parent_session_id,
       device_name, created_at, expires_at)
     select * from unnest($1::uuid[], $2::uuid[], $3::int8[], $4::uuid[], $5::uuid[], $6::text[], $7::uuid[],
       $8::json[], $9::int8[], $10::int8[])`,
    [
      ...changing(rows),
      uuids(rows.map(({ userId }) => userId)),
      uuids(rows.map(({ identityId }) => identityId)),
      texts(rows.map(({ tokenHash }) => tokenHash)),
      uuids(rows.map(({ parentSessionId }) => parentSessionId)),
      jsons(rows.map(({ deviceName }) => literal(deviceName))),
      int8s(rows.map(({ createdAt }) => createdAt)),
      int8s(rows.map(({ expiresAt }) => expiresAt)),
    ],
  )

const update = (rows: readonly Change[], write: WriteStatement) =>
  write(
    'sessions-update',
    `update sessions s set namespace_id = coalesce(c.namespace_id, s.namespace_id),
       revoked_at = coalesce(c.revoked_at, s.revoked_at)
     from unnest($1::uuid[], $2::uuid[], $3::int8[]) c (id, namespace_id, revoked_at) where s.id = c.id`,
    changing(rows),
  )

/** Sessions, also those that have ended. When they were last used is in the operational table `session_uses`. */
export const sessions = projectionOf<AnyEvent>()<ChangedRows<Row>>({
  name: 'sessions',
  tables: `
    create table sessions (
      id uuid primary key, user_id uuid not null, identity_id uuid not null, token_hash text collate "C" not null,
      namespace_id uuid, parent_session_id uuid, device_name json, created_at int8 not null, expires_at int8,
      revoked_at int8
    );`,
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
    ...ignoredUserEvents,
    ...ignoredNamespaceEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) insert([...created.values()], write)
    if (changed.size > 0) update([...changed.values()] as Change[], write)
  },
})
