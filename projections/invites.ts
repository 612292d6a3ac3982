import { type WriteStatement, projectionOf } from '../src/engine/projection.ts'
import type { AnyEvent } from '../src/events.ts'
import type { Role } from '../src/namespace/events.ts'
import { int8s, jsons, texts, uuids } from '../src/postgres/arrays.ts'
import { literal } from './support/changed-rows.ts'
import { ignoredModelsEvents, ignoredSessionEvents, ignoredTraceEvents, ignoredUserEvents } from './support/ignored.ts'

/** `email` is a JSON string literal; `accepted_at` and `accepted_by` are those of the first use. */
export type InvitesTable = {
  namespace_id: string
  code: string
  role: Role
  invited_by: string
  email: string | null
  max_uses: bigint | null
  use_count: bigint
  created_at: bigint
  expires_at: bigint
  revoked_at: bigint | null
  accepted_at: bigint | null
  accepted_by: string | null
}

type Key = { readonly namespaceId: string; readonly code: string }
type Created = Key & {
  readonly role: Role
  readonly invitedBy: string
  readonly email: string | undefined
  readonly maxUses: number | undefined
  readonly createdAt: number
  readonly expiresAt: number
}
/** The changes of one invite in a batch, also of one that the batch creates. */
type InviteChange = Key & { uses: number; first?: { readonly by: string; readonly at: number }; revokedAt?: number }

type Changes = { readonly created: Created[]; readonly changed: Map<string, InviteChange> }

const changeOf = ({ changed }: Changes, namespaceId: string, code: string): InviteChange => {
  const key = `${namespaceId}/${code}`
  let change = changed.get(key)
  if (!change) changed.set(key, (change = { namespaceId, code, uses: 0 }))
  return change
}

const columns = (rows: readonly Key[]) => [
  uuids(rows.map(({ namespaceId }) => namespaceId)),
  texts(rows.map(({ code }) => code)),
]

const insert = (rows: readonly Created[], write: WriteStatement) =>
  write(
    'invites-insert',
    `insert into invites (namespace_id, code, role, invited_by, email, max_uses, created_at, expires_at)
     select * from unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::json[], $6::int8[], $7::int8[], $8::int8[])`,
    [
      ...columns(rows),
      texts(rows.map(({ role }) => role)),
      uuids(rows.map(({ invitedBy }) => invitedBy)),
      jsons(rows.map(({ email }) => literal(email))),
      int8s(rows.map(({ maxUses }) => maxUses)),
      int8s(rows.map(({ createdAt }) => createdAt)),
      int8s(rows.map(({ expiresAt }) => expiresAt)),
    ],
  )

// Runs after the insert: a batch may create, use and revoke the same invite.
const update = (rows: readonly InviteChange[], write: WriteStatement) =>
  write(
    'invites-update',
    `update invites i set use_count = i.use_count + c.uses, revoked_at = coalesce(i.revoked_at, c.revoked_at),
       accepted_at = coalesce(i.accepted_at, c.accepted_at), accepted_by = coalesce(i.accepted_by, c.accepted_by)
     from unnest($1::uuid[], $2::text[], $3::int8[], $4::int8[], $5::int8[], $6::uuid[])
       c (namespace_id, code, uses, revoked_at, accepted_at, accepted_by)
     where i.namespace_id = c.namespace_id and i.code = c.code`,
    [
      ...columns(rows),
      int8s(rows.map(({ uses }) => uses)),
      int8s(rows.map(({ revokedAt }) => revokedAt)),
      int8s(rows.map(({ first }) => first?.at)),
      uuids(rows.map(({ first }) => first?.by)),
    ],
  )

/** Invites and their use. Whether one is still valid depends on the time, and is computed by the queries. */
export const invites = projectionOf<AnyEvent>()<Changes>({
  name: 'invites',
  tables: `
    create table invites (
      namespace_id uuid not null, code text collate "C" not null, role text collate "C" not null, invited_by uuid not null,
      email json, max_uses int8, use_count int8 not null default 0, created_at int8 not null, expires_at int8 not null,
      revoked_at int8, accepted_at int8, accepted_by uuid, primary key (namespace_id, code)
    );`,
  rows: { invites: { namespace: 'namespace_id' } },
  indexes: 'create index invites_code on invites (code);',
  start: () => ({ created: [], changed: new Map() }),
  on: {
    InviteCreated: ({ created }, { streamId: namespaceId, at: createdAt, data }) => {
      const { code, role, invitedBy, email, maxUses, expiresAt } = data
      created.push({ namespaceId, code, role, invitedBy, email, maxUses, createdAt, expiresAt })
    },
    InviteRevoked: (changes, { streamId: namespaceId, at, data: { code } }) => {
      changeOf(changes, namespaceId, code).revokedAt ??= at
    },
    MemberJoined: (changes, { streamId: namespaceId, at, data: { userId, code } }) => {
      if (code === undefined) return
      const change = changeOf(changes, namespaceId, code)
      change.uses++
      change.first ??= { by: userId, at }
    },
    NamespaceCreated: 'ignored',
    NamespaceUpdated: 'ignored',
    AvatarChanged: 'ignored',
    MemberRoleChanged: 'ignored',
    MemberRemoved: 'ignored',
    ...ignoredUserEvents,
    ...ignoredSessionEvents,
    ...ignoredTraceEvents,
    ...ignoredModelsEvents,
  },
  write: ({ created, changed }, write) => {
    if (created.length > 0) insert(created, write)
    if (changed.size > 0) update([...changed.values()], write)
  },
})
