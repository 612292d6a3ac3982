import { type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { NamespaceEvent } from '../src/server/namespace/events.ts'
import type { Role } from '../src/contract/namespaces.ts'
import { literal } from './support/changed-rows.ts'
import { invitesTable } from '../src/tables/main.ts'

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

const key = { namespace_id: ({ namespaceId }: Key) => namespaceId, code: ({ code }: Key) => code }

const inserted = invitesTable.unnest<Created>({
  ...key,
  role: ({ role }) => role,
  invited_by: ({ invitedBy }) => invitedBy,
  email: ({ email }) => literal(email),
  max_uses: ({ maxUses }) => maxUses,
  created_at: ({ createdAt }) => createdAt,
  expires_at: ({ expiresAt }) => expiresAt,
})

const updated = invitesTable.unnest<InviteChange>({
  ...key,
  use_count: ({ uses }) => uses,
  revoked_at: ({ revokedAt }) => revokedAt,
  accepted_at: ({ first }) => first?.at,
  accepted_by: ({ first }) => first?.by,
})

// Runs after the insert: a batch may create, use and revoke the same invite.
const update = (rows: readonly InviteChange[], write: WriteStatement) =>
  write(
    'invites-update',
    `update invites i set use_count = i.use_count + c.use_count, revoked_at = coalesce(i.revoked_at, c.revoked_at),
       accepted_at = coalesce(i.accepted_at, c.accepted_at), accepted_by = coalesce(i.accepted_by, c.accepted_by)
     from ${updated.as('c')} where i.namespace_id = c.namespace_id and i.code = c.code`,
    updated.values(rows),
  )

/** Invites and their use. Whether one is still valid depends on the time, and is computed by the queries. */
export const invites = projectionOf<NamespaceEvent>()<Changes>({
  name: 'invites',
  tables: invitesTable.create,
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
    RetentionChanged: 'ignored',
    MemberRoleChanged: 'ignored',
    MemberRemoved: 'ignored',
  },
  write: ({ created, changed }, write) => {
    if (created.length > 0) write('invites-insert', inserted.insert, inserted.values(created))
    if (changed.size > 0) update([...changed.values()], write)
  },
})
