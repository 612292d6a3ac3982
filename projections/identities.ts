import { type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { bools, int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import { identityId } from '../src/ids.ts'
import type { IdentityType, ProviderData } from '../src/user/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import {
  ignoredModelsEvents,
  ignoredNamespaceEvents,
  ignoredSessionEvents,
  ignoredTraceEvents,
} from './support/ignored.ts'

/**
 * `first_id` is the id of the first identity with the same key; later ones, after a removal, have the same `first_id`.
 * `provider_data` is a JSON object, `email` a JSON string literal.
 */
export type IdentitiesTable = {
  id: string
  first_id: string
  user_id: string
  type: IdentityType
  provider_data: string | null
  email: string | null
  email_verified: boolean | null
  created_at: bigint
}

/** Identities that were removed from their users; their rows in `identities` stay. */
export type RemovedIdentitiesTable = { id: string; user_id: string }

type Profile = {
  readonly id: string
  readonly providerData?: ProviderData | undefined
  readonly email?: string | undefined
  readonly emailVerified?: boolean | undefined
}
type Row = Profile & {
  readonly firstId: string
  readonly userId: string
  readonly type: IdentityType
  readonly createdAt: number
}
type Changes = ChangedRows<Row> & { readonly removed: { readonly id: string; readonly userId: string }[] }

const profiles = (rows: readonly Profile[]) => [
  uuids(rows.map(({ id }) => id)),
  jsons(rows.map(({ providerData }) => providerData && JSON.stringify(providerData))),
  jsons(rows.map(({ email }) => literal(email))),
  bools(rows.map(({ emailVerified }) => emailVerified)),
]

const insert = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'identities-insert',
    `insert into identities (id, provider_data, email, email_verified, user_id, type, created_at, first_id)
     select * from unnest($1::uuid[], $2::json[], $3::json[], $4::bool[], $5::uuid[], $6::text[], $7::int8[],
       $8::uuid[])`,
    [
      ...profiles(rows),
      uuids(rows.map(({ userId }) => userId)),
      texts(rows.map(({ type }) => type)),
      int8s(rows.map(({ createdAt }) => createdAt)),
      uuids(rows.map(({ firstId }) => firstId)),
    ],
  )

const update = (rows: readonly Profile[], write: WriteStatement) =>
  write(
    'identities-update',
    `update identities i set provider_data = coalesce(c.provider_data, i.provider_data),
       email = coalesce(c.email, i.email), email_verified = coalesce(c.email_verified, i.email_verified)
     from unnest($1::uuid[], $2::json[], $3::json[], $4::bool[]) c (id, provider_data, email, email_verified)
     where i.id = c.id`,
    profiles(rows),
  )

const remove = (rows: Changes['removed'], write: WriteStatement) =>
  write('identities-remove', 'insert into removed_identities select * from unnest($1::uuid[], $2::uuid[])', [
    uuids(rows.map(({ id }) => id)),
    uuids(rows.map(({ userId }) => userId)),
  ])

/**
 * How users sign in. The key, a hash of a credential, is stored only in the ids derived from it. Removals are events of the
 * user's stream, so they have a table of their own: a replay of one stream must be able to replace all of its rows.
 */
export const identities = projectionOf<AnyEvent>()<Changes>({
  name: 'identities',
  tables: `
    create table identities (
      id uuid primary key, first_id uuid not null, user_id uuid not null, type text collate "C" not null,
      provider_data json, email json, email_verified bool, created_at int8 not null
    );
    create table removed_identities (id uuid primary key, user_id uuid not null);`,
  rows: { identities: { identity: 'id' }, removed_identities: { user: 'user_id' } },
  indexes: `
    create index identities_user on identities (user_id);
    create index identities_first on identities (first_id);`,
  start: () => ({ ...changedRows(), removed: [] }),
  on: {
    IdentityCreated: ({ created }, { streamId: id, at: createdAt, data }) => {
      const { userId, type, key, providerData, email, emailVerified } = data
      const firstId = identityId(type, key)
      created.set(id, { id, firstId, userId, type, providerData, email, emailVerified, createdAt })
    },
    IdentityRemoved: ({ removed }, { streamId: userId, data: { identityId: id } }) => void removed.push({ id, userId }),
    IdentityRefreshed: (rows, { streamId: id, data: { providerData, email, emailVerified } }) =>
      change(rows, id, { id, providerData, email, emailVerified }),
    UserCreated: 'ignored',
    UserRenamed: 'ignored',
    ...ignoredSessionEvents,
    ...ignoredNamespaceEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed, removed }, write) => {
    if (created.size > 0) insert([...created.values()], write)
    if (changed.size > 0) update([...changed.values()] as Profile[], write)
    if (removed.length > 0) remove(removed, write)
  },
})
