import { type Write, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import { bools, int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import type { IdentityType, ProviderData } from '../src/user/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import {
  ignoredModelsEvents,
  ignoredNamespaceEvents,
  ignoredSessionEvents,
  ignoredTraceEvents,
} from './support/ignored.ts'

/** `provider_data` is a JSON object, `email` a JSON string literal. */
export type IdentitiesTable = {
  id: string
  user_id: string
  type: IdentityType
  provider_data: string | null
  email: string | null
  email_verified: boolean | null
  created_at: bigint
}

type Profile = {
  readonly id: string
  readonly providerData?: ProviderData | undefined
  readonly email?: string | undefined
  readonly emailVerified?: boolean | undefined
}
type Row = Profile & { readonly userId: string; readonly type: IdentityType; readonly createdAt: number }

const profiles = (rows: readonly Profile[]) => [
  uuids(rows.map(({ id }) => id)),
  jsons(rows.map(({ providerData }) => providerData && JSON.stringify(providerData))),
  jsons(rows.map(({ email }) => literal(email))),
  bools(rows.map(({ emailVerified }) => emailVerified)),
]

const insert = (rows: readonly Row[], write: Write) =>
  write(
    'identities-insert',
    `insert into identities (id, provider_data, email, email_verified, user_id, type, created_at)
     select * from unnest($1::uuid[], $2::json[], $3::json[], $4::bool[], $5::uuid[], $6::text[], $7::int8[])`,
    [
      ...profiles(rows),
      uuids(rows.map(({ userId }) => userId)),
      texts(rows.map(({ type }) => type)),
      int8s(rows.map(({ createdAt }) => createdAt)),
    ],
  )

const update = (rows: readonly Profile[], write: Write) =>
  write(
    'identities-update',
    `update identities i set provider_data = coalesce(c.provider_data, i.provider_data),
       email = coalesce(c.email, i.email), email_verified = coalesce(c.email_verified, i.email_verified)
     from unnest($1::uuid[], $2::json[], $3::json[], $4::bool[]) c (id, provider_data, email, email_verified)
     where i.id = c.id`,
    profiles(rows),
  )

/** How users sign in. The key, a hash of a credential, is in the identity's id only. */
export const identities = projectionOf<AnyEvent>()<ChangedRows<Row>>({
  name: 'identities',
  tables: `
    create table identities (
      id uuid primary key, user_id uuid not null, type text collate "C" not null, provider_data json, email json,
      email_verified bool, created_at int8 not null
    );`,
  rows: { identities: { identity: 'id' } },
  indexes: 'create index identities_user on identities (user_id);',
  start: changedRows,
  on: {
    IdentityCreated: ({ created }, { of: id, at: createdAt, data }) => {
      const { userId, type, providerData, email, emailVerified } = data
      created.set(id, { id, userId, type, providerData, email, emailVerified, createdAt })
    },
    IdentityRefreshed: (rows, { of: id, data: { providerData, email, emailVerified } }) =>
      change(rows, id, { id, providerData, email, emailVerified }),
    UserCreated: 'ignored',
    UserRenamed: 'ignored',
    ...ignoredSessionEvents,
    ...ignoredNamespaceEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) insert([...created.values()], write)
    if (changed.size > 0) update([...changed.values()] as Profile[], write)
  },
})
