import type { IdentityType } from '../src/contract/user.ts'
import { type WriteStatement, projectionOf } from '../src/eventstore/engine/projection.ts'
import { identityId } from '../src/base/ids.ts'
import type { IdentityEvent, ProviderData, UserEvent } from '../src/server/user/events.ts'
import { type ChangedRows, change, changedRows, literal } from './support/changed-rows.ts'
import { identitiesTable, removedIdentitiesTable } from '../src/tables/main.ts'

type Profile = {
  readonly id: string
  readonly providerData?: ProviderData | undefined
  readonly email?: string | undefined
  readonly emailVerified?: boolean | undefined
  readonly name?: string | undefined
}
type Row = Profile & {
  readonly firstId: string
  readonly userId: string
  readonly type: IdentityType
  readonly createdAt: number
}
type Changes = ChangedRows<Row> & { readonly removed: { readonly id: string; readonly userId: string }[] }

const profile = {
  id: ({ id }: Profile) => id,
  provider_data: ({ providerData }: Profile) => providerData && JSON.stringify(providerData),
  email: ({ email }: Profile) => literal(email),
  email_verified: ({ emailVerified }: Profile) => emailVerified,
  name: ({ name }: Profile) => literal(name),
}

const inserted = identitiesTable.unnest<Row>({
  ...profile,
  user_id: ({ userId }) => userId,
  type: ({ type }) => type,
  created_at: ({ createdAt }) => createdAt,
  first_id: ({ firstId }) => firstId,
})

const updated = identitiesTable.unnest<Profile>(profile)

const removals = removedIdentitiesTable.unnest<Changes['removed'][number]>({
  id: ({ id }) => id,
  user_id: ({ userId }) => userId,
})

const update = (rows: readonly Profile[], write: WriteStatement) =>
  write(
    'identities-update',
    `update identities i set provider_data = coalesce(c.provider_data, i.provider_data),
       email = coalesce(c.email, i.email), email_verified = coalesce(c.email_verified, i.email_verified), name = coalesce(c.name, i.name)
     from ${updated.as('c')} where i.id = c.id`,
    updated.values(rows),
  )

/**
 * How users sign in. The key, a hash of a credential, is stored only in the ids derived from it. Removals are events of the
 * user's stream, so they have a table of their own: a replay of one stream must be able to replace all of its rows.
 */
export const identities = projectionOf<IdentityEvent | UserEvent>()<Changes>({
  name: 'identities',
  tables: `${identitiesTable.create}
    ${removedIdentitiesTable.create}`,
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
    IdentityNamed: (rows, { streamId: id, data: { name } }) => change(rows, id, { id, name }),
    UserCreated: 'ignored',
    UserRenamed: 'ignored',
  },
  write: ({ created, changed, removed }, write) => {
    if (created.size > 0) write('identities-insert', inserted.insert, inserted.values([...created.values()]))
    if (changed.size > 0) update([...changed.values()] as Profile[], write)
    if (removed.length > 0) write('identities-remove', removals.insert, removals.values(removed))
  },
})
