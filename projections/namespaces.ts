import { type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import type { ClaimedBy, NamespaceType } from '../src/namespace/events.ts'
import { int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import { ignoredModelsEvents, ignoredSessionEvents, ignoredTraceEvents, ignoredUserEvents } from './support/ignored.ts'

/** `display_name` and `description` are JSON string literals. */
export type NamespacesTable = {
  id: string
  slug: string
  display_name: string
  description: string | null
  type: NamespaceType
  claimed_by: ClaimedBy
  avatar_storage_id: string | null
  created_by: string
  created_at: bigint
}

type Change = {
  readonly id: string
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly storageId?: string | undefined
}
type Row = Change & {
  readonly slug: string
  readonly displayName: string
  readonly type: NamespaceType
  readonly claimedBy: ClaimedBy
  readonly createdBy: string
  readonly createdAt: number
}

const changing = (rows: readonly Change[]) => [
  uuids(rows.map(({ id }) => id)),
  jsons(rows.map(({ displayName }) => literal(displayName))),
  jsons(rows.map(({ description }) => literal(description))),
  texts(rows.map(({ storageId }) => storageId)),
]

const insert = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'namespaces-insert',
    `insert into namespaces (id, display_name, description, avatar_storage_id, slug, type, claimed_by, created_by, created_at)
     select * from unnest($1::uuid[], $2::json[], $3::json[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::uuid[], $9::int8[])`,
    [
      ...changing(rows),
      texts(rows.map(({ slug }) => slug)),
      texts(rows.map(({ type }) => type)),
      texts(rows.map(({ claimedBy }) => claimedBy)),
      uuids(rows.map(({ createdBy }) => createdBy)),
      int8s(rows.map(({ createdAt }) => createdAt)),
    ],
  )

const update = (rows: readonly Change[], write: WriteStatement) =>
  write(
    'namespaces-update',
    `update namespaces n set display_name = coalesce(c.display_name, n.display_name),
       description = coalesce(c.description, n.description),
       avatar_storage_id = coalesce(c.avatar_storage_id, n.avatar_storage_id)
     from unnest($1::uuid[], $2::json[], $3::json[], $4::text[]) c (id, display_name, description, avatar_storage_id)
     where n.id = c.id`,
    changing(rows),
  )

/** Namespaces. There is no index for slugs: the id is derived from the slug (`src/ids.ts`). */
export const namespaces = projectionOf<AnyEvent>()<ChangedRows<Row>>({
  name: 'namespaces',
  tables: `
    create table namespaces (
      id uuid primary key, slug text collate "C" not null, display_name json not null, description json,
      type text collate "C" not null, claimed_by text collate "C" not null, avatar_storage_id text collate "C",
      created_by uuid not null, created_at int8 not null
    );`,
  rows: { namespaces: { namespace: 'id' } },
  indexes: '',
  start: changedRows,
  on: {
    NamespaceCreated: ({ created }, { streamId: id, at: createdAt, data }) =>
      void created.set(id, { id, createdAt, ...data }),
    NamespaceUpdated: (rows, { streamId: id, data: { displayName, description } }) =>
      change(rows, id, { id, description, ...(displayName === undefined ? {} : { displayName }) }),
    AvatarChanged: (rows, { streamId: id, data: { storageId } }) => change(rows, id, { id, storageId }),
    MemberJoined: 'ignored',
    MemberRoleChanged: 'ignored',
    MemberRemoved: 'ignored',
    InviteCreated: 'ignored',
    InviteRevoked: 'ignored',
    ...ignoredUserEvents,
    ...ignoredSessionEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) insert([...created.values()], write)
    if (changed.size > 0) update([...changed.values()] as Change[], write)
  },
})
