import { type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { NamespaceEvent } from '../src/server/namespace/events.ts'
import type { Role } from '../src/contract/namespaces.ts'
import { membersTable } from '../src/tables/main.ts'

type Key = { readonly namespaceId: string; readonly userId: string }
type Row = Key & { readonly role: Role; readonly invitedBy: string | undefined; readonly joinedAt: number }

type Changed = Key & { role: Role }

/** The result of a batch for each membership that it changes: a key is in one of the three maps only. */
type Changes = {
  readonly joined: Map<string, Row>
  readonly changed: Map<string, Changed>
  readonly removed: Map<string, Key>
}

const keyOf = ({ namespaceId, userId }: Key) => `${namespaceId}/${userId}`

const key = { namespace_id: ({ namespaceId }: Key) => namespaceId, user_id: ({ userId }: Key) => userId }

const joinedRows = membersTable.unnest<Row>({
  ...key,
  role: ({ role }) => role,
  invited_by: ({ invitedBy }) => invitedBy,
  joined_at: ({ joinedAt }) => joinedAt,
})
const changedRows = membersTable.unnest<Changed>({ ...key, role: ({ role }) => role })
const removedRows = membersTable.unnest<Key>(key)

// On conflict: a member who leaves and joins again in one batch still has a row.
const writeJoined = (rows: readonly Row[], write: WriteStatement) =>
  write(
    'members-upsert',
    `${joinedRows.insert} on conflict (namespace_id, user_id) do update
       set role = excluded.role, invited_by = excluded.invited_by, joined_at = excluded.joined_at`,
    joinedRows.values(rows),
  )

const writeRoles = (rows: readonly Changed[], write: WriteStatement) =>
  write(
    'members-roles',
    `update members m set role = c.role from ${changedRows.as('c')}
     where m.namespace_id = c.namespace_id and m.user_id = c.user_id`,
    changedRows.values(rows),
  )

const writeRemoved = (rows: readonly Key[], write: WriteStatement) =>
  write(
    'members-delete',
    `delete from members m using ${removedRows.as('c')} where m.namespace_id = c.namespace_id and m.user_id = c.user_id`,
    removedRows.values(rows),
  )

/** The members of namespaces, and their roles. */
export const members = projectionOf<NamespaceEvent>()<Changes>({
  name: 'members',
  tables: membersTable.create,
  rows: { members: { namespace: 'namespace_id' } },
  indexes: 'create index members_user on members (user_id, namespace_id);',
  start: () => ({ joined: new Map(), changed: new Map(), removed: new Map() }),
  on: {
    MemberJoined: ({ joined, changed, removed }, { streamId: namespaceId, at, data: { userId, role, invitedBy } }) => {
      const key = keyOf({ namespaceId, userId })
      changed.delete(key)
      removed.delete(key)
      joined.set(key, { namespaceId, userId, role, invitedBy, joinedAt: at })
    },
    MemberRoleChanged: ({ joined, changed }, { streamId: namespaceId, data: { userId, role } }) => {
      const key = keyOf({ namespaceId, userId })
      const row = joined.get(key)
      if (row) joined.set(key, { ...row, role })
      else changed.set(key, { namespaceId, userId, role })
    },
    MemberRemoved: ({ joined, changed, removed }, { streamId: namespaceId, data: { userId } }) => {
      const key = keyOf({ namespaceId, userId })
      joined.delete(key)
      changed.delete(key)
      removed.set(key, { namespaceId, userId })
    },
    NamespaceCreated: 'ignored',
    NamespaceUpdated: 'ignored',
    AvatarChanged: 'ignored',
    RetentionChanged: 'ignored',
    InviteCreated: 'ignored',
    InviteRevoked: 'ignored',
  },
  write: ({ joined, changed, removed }, write) => {
    if (removed.size > 0) writeRemoved([...removed.values()], write)
    if (joined.size > 0) writeJoined([...joined.values()], write)
    if (changed.size > 0) writeRoles([...changed.values()], write)
  },
})
