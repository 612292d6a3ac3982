import { type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import type { NamespaceType } from '../src/contract/namespaces.ts'
import type { ClaimedBy, NamespaceEvent } from '../src/server/namespace/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import { namespacesTable } from '../src/tables/main.ts'

type Change = {
  readonly id: string
  readonly displayName?: string | undefined
  readonly description?: string | undefined
  readonly storageId?: string | undefined
  /** 0 means for ever. */
  readonly retentionDays?: number | undefined
}
type Row = Change & {
  readonly slug: string
  readonly displayName: string
  readonly type: NamespaceType
  readonly claimedBy: ClaimedBy
  readonly createdBy: string
  readonly createdAt: number
}

const changing = {
  id: ({ id }: Change) => id,
  display_name: ({ displayName }: Change) => literal(displayName),
  description: ({ description }: Change) => literal(description),
  avatar_storage_id: ({ storageId }: Change) => storageId,
  retention_days: ({ retentionDays }: Change) => retentionDays,
}

const inserted = namespacesTable.unnest<Row>({
  ...changing,
  retention_days: ({ retentionDays }) => retentionDays || undefined,
  slug: ({ slug }) => slug,
  type: ({ type }) => type,
  claimed_by: ({ claimedBy }) => claimedBy,
  created_by: ({ createdBy }) => createdBy,
  created_at: ({ createdAt }) => createdAt,
})

const updated = namespacesTable.unnest<Change>(changing, ['display_name'])

const update = (rows: readonly Change[], write: WriteStatement) =>
  write(
    'namespaces-update',
    `update namespaces n set display_name = coalesce(c.display_name, n.display_name),
       description = coalesce(c.description, n.description),
       avatar_storage_id = coalesce(c.avatar_storage_id, n.avatar_storage_id),
       retention_days = nullif(coalesce(c.retention_days, n.retention_days), 0)
     from ${updated.as('c')} where n.id = c.id`,
    updated.values(rows),
  )

/** Namespaces. There is no index for slugs: the id is derived from the slug (`src/base/ids.ts`). */
export const namespaces = projectionOf<NamespaceEvent>()<ChangedRows<Row>>({
  name: 'namespaces',
  tables: namespacesTable.create,
  rows: { namespaces: { namespace: 'id' } },
  indexes: 'create index namespaces_retention on namespaces (id) where retention_days is not null;',
  start: changedRows,
  on: {
    NamespaceCreated: ({ created }, { streamId: id, at: createdAt, data }) =>
      void created.set(id, { id, createdAt, ...data }),
    NamespaceUpdated: (rows, { streamId: id, data: { displayName, description } }) =>
      change(rows, id, { id, description, ...(displayName === undefined ? {} : { displayName }) }),
    AvatarChanged: (rows, { streamId: id, data: { storageId } }) => change(rows, id, { id, storageId }),
    RetentionChanged: (rows, { streamId: id, data: { retentionDays } }) =>
      change(rows, id, { id, retentionDays: retentionDays ?? 0 }),
    MemberJoined: 'ignored',
    MemberRoleChanged: 'ignored',
    MemberRemoved: 'ignored',
    InviteCreated: 'ignored',
    InviteRevoked: 'ignored',
  },
  write: ({ created, changed }, write) => {
    if (created.size > 0) write('namespaces-insert', inserted.insert, inserted.values([...created.values()]))
    if (changed.size > 0) update([...changed.values()] as Change[], write)
  },
})
