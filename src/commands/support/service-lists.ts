import { mainGroup } from '../../../projections/index.ts'
import type { IdentityType } from '../../contract/user.ts'
import type { ProviderData } from '../../server/user/events.ts'
import { withSchema } from './read-models.ts'

/** How a user signs in; a device has neither a login nor an e-mail address. */
export type SignIn = {
  readonly id: string
  readonly type: IdentityType
  readonly login?: string
  readonly email?: string
  readonly emailVerified?: boolean
}

export type Seat = { readonly id: string; readonly slug: string; readonly role: string }

/** A user of a service. `traces` and `bytes` count what they have uploaded, in all namespaces. */
export type UserOfService = {
  readonly id: string
  readonly displayName?: string
  /** Empty for a removed user. */
  readonly identities: readonly SignIn[]
  readonly namespaces: readonly Seat[]
  readonly traces: number
  readonly bytes: number
  /** In milliseconds. */
  readonly lastUsedAt?: number
}

// One statement sums for all users, because they are sorted by size.
const usersStatement = `
  select u.id, u.display_name,
    coalesce((
      select json_agg(json_build_array(i.id, i.type, i.provider_data::text, i.email::text, i.email_verified)
        order by i.created_at, i.id)
      from identities i where i.user_id = u.id and not exists (select from removed_identities r where r.id = i.id)
    ), '[]') as identities,
    coalesce((
      select json_agg(json_build_array(n.id, n.slug, m.role) order by m.joined_at, n.id)
      from members m join namespaces n on n.id = m.namespace_id where m.user_id = u.id
    ), '[]') as namespaces,
    coalesce(t.traces, 0) as traces, coalesce(t.bytes, 0)::int8 as bytes, l.last_used_at
  from users u
  left join (select created_by, count(*) as traces, sum(bytes) as bytes from traces group by created_by) t
    on t.created_by = u.id
  left join (
    select s.user_id, max(x.last_used_at) as last_used_at
    from tracebook.session_uses x join sessions s on s.id = x.session_id group by s.user_id
  ) l on l.user_id = u.id
  order by bytes desc, traces desc, u.id`

type UserRow = {
  readonly id: string
  readonly display_name: string | null
  readonly identities: string
  readonly namespaces: string
  readonly traces: bigint
  readonly bytes: bigint
  readonly last_used_at: bigint | null
}

type IdentityCells = [string, IdentityType, string | null, string | null, boolean | null]

const toSignIn = ([id, type, provider, email, emailVerified]: IdentityCells): SignIn => ({
  id,
  type,
  ...(provider === null ? {} : { login: (JSON.parse(provider) as ProviderData).login }),
  ...(email === null ? {} : { email: JSON.parse(email) as string }),
  ...(emailVerified === null ? {} : { emailVerified }),
})

const toUser = (row: UserRow): UserOfService => ({
  id: row.id,
  ...(row.display_name === null ? {} : { displayName: JSON.parse(row.display_name) as string }),
  identities: (JSON.parse(row.identities) as IdentityCells[]).map(toSignIn),
  namespaces: (JSON.parse(row.namespaces) as [string, string, string][]).map(([id, slug, role]) => ({
    id,
    slug,
    role,
  })),
  traces: Number(row.traces),
  bytes: Number(row.bytes),
  ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
})

const rowsOf = <Row extends object>(url: string, statement: string): Promise<Row[]> =>
  withSchema(url, mainGroup, async (client) => (await client.query<Row>(statement)).rows)

/** All users of the service with this database, those with the most content first. */
export const readUsers = async (url: string): Promise<readonly UserOfService[]> =>
  (await rowsOf<UserRow>(url, usersStatement)).map(toUser)

export type NamespaceOfService = {
  readonly id: string
  readonly slug: string
  readonly displayName: string
  readonly type: string
  readonly members: number
  readonly traces: number
  readonly bytes: number
}

const namespacesStatement = `
  select n.id, n.slug, n.display_name, n.type, coalesce(s.traces, 0) as traces, coalesce(s.bytes, 0) as bytes,
    (select count(*) from members m where m.namespace_id = n.id) as members
  from namespaces n left join sizes s on s.namespace_id = n.id
  order by bytes desc, traces desc, n.slug`

type NamespaceRow = {
  readonly id: string
  readonly slug: string
  readonly display_name: string
  readonly type: string
  readonly members: bigint
  readonly traces: bigint
  readonly bytes: bigint
}

/** All namespaces of the service with this database, the largest first. */
export const readNamespaces = async (url: string): Promise<readonly NamespaceOfService[]> =>
  (await rowsOf<NamespaceRow>(url, namespacesStatement)).map((row) => ({
    id: row.id,
    slug: row.slug,
    displayName: JSON.parse(row.display_name) as string,
    type: row.type,
    members: Number(row.members),
    traces: Number(row.traces),
    bytes: Number(row.bytes),
  }))
