import type { ReadTables } from '../../tables/main.ts'
import type { IdentityView, UserView } from '../../contract/user.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import type { ProviderData } from './events.ts'

/** A user from a row, in which `display_name` is a JSON string. */
export const toUser = ({ id, display_name }: { id: string; display_name: string | null }): UserView => ({
  id,
  ...(display_name === null ? {} : { displayName: JSON.parse(display_name) as string }),
})

const userStatement = 'select id, display_name from users where id = $1'

/** A user by its id; for an unknown one a view with the id alone. */
export const userById = async (reads: Reads<ReadTables>, id: string): Promise<UserView> => {
  const [row] = await reads.rows<{ id: string; display_name: string | null }>('user', userStatement, [id])
  return row ? toUser(row) : { id }
}

/** The names of users who have one, by their ids. */
export const displayNamesOf = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map()
  const rows = await reads.rows<{ id: string; display_name: string } & Row>(
    'names-of-users',
    'select id, display_name from users where id = any($1::uuid[]) and display_name is not null',
    [uuids(ids)],
  )
  return new Map(rows.map(({ id, display_name }) => [id, JSON.parse(display_name) as string]))
}

/** The identities of a user that were not removed, oldest first. */
export const identitiesOf = (reads: Reads<ReadTables>, userId: string): Promise<IdentityView[]> =>
  reads.query(async (db) => {
    const rows = await db
      .selectFrom('identities')
      .selectAll()
      .where('user_id', '=', userId)
      .where((eb) => eb.not(eb.exists(eb.selectFrom('removed_identities as r').whereRef('r.id', '=', 'identities.id'))))
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(({ id, type, provider_data, email, email_verified, name }) => ({
      id,
      type,
      ...(provider_data === null ? {} : profileOf(JSON.parse(provider_data) as ProviderData)),
      ...(email === null ? {} : { email: JSON.parse(email) as string }),
      ...(email_verified === null ? {} : { emailVerified: email_verified }),
      ...(name === null ? {} : { name: JSON.parse(name) as string }),
    }))
  })

const profileOf = ({ login, avatarUrl }: ProviderData) => ({ login, ...(avatarUrl === undefined ? {} : { avatarUrl }) })

/** The e-mail addresses of a user that a code host has verified. */
export const verifiedEmailsOf = async (reads: Reads<ReadTables>, userId: string): Promise<string[]> =>
  (await identitiesOf(reads, userId)).flatMap(({ email, emailVerified }) =>
    email !== undefined && emailVerified ? [email] : [],
  )
