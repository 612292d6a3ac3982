import type { Kysely } from 'kysely'
import type { ReadTables } from '../../tables/main.ts'
import type { MemberView } from '../../contract/members.ts'
import type { NamespaceInfo, NamespaceType, NamespaceView, Role } from '../../contract/namespaces.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { Rejected } from '../../eventstore/engine/rejected.ts'
import type { Caller } from '../http/caller.ts'
import { isId, namespaceId } from '../../base/ids.ts'
import { toUser } from '../user/queries.ts'
import { NOT_ADMIN, NOT_MEMBER, NO_NAMESPACE } from './decide.ts'
import { normalizeSlug } from './slug.ts'
import { avatarField } from './views.ts'

type NamespaceReads = Reads<ReadTables>

type NamespaceRow = {
  id: string
  slug: string
  display_name: string
  description: string | null
  type: NamespaceType
  avatar_storage_id: string | null
  retention_days: number | null
  role: Role | null
}

const toView = (row: NamespaceRow): NamespaceView => ({
  id: row.id,
  slug: row.slug,
  displayName: JSON.parse(row.display_name) as string,
  ...(row.description === null ? {} : { description: JSON.parse(row.description) as string }),
  type: row.type,
  ...(row.role === null ? {} : { role: row.role }),
  ...(row.role === null || row.retention_days === null ? {} : { retentionDays: row.retention_days }),
  ...avatarField(row.slug, row.avatar_storage_id),
})

const columns = 'n.id, n.slug, n.display_name, n.description, n.type, n.avatar_storage_id, n.retention_days, m.role'

const oneStatement = `
  select ${columns} from namespaces n left join members m on m.namespace_id = n.id and m.user_id = $2 where n.id = $1`

const ofUserStatement = `
  select ${columns} from members m join namespaces n on n.id = m.namespace_id where m.user_id = $1
  order by m.joined_at, n.id`

const noNamespace = () => new Rejected('not_found', NO_NAMESPACE)

/** The id of the namespace with this slug, which need not exist. @throws Rejected not_found for a text that cannot be a slug */
export const idOfSlug = (text: string): string => {
  const slug = normalizeSlug(text)
  if (slug === undefined) throw noNamespace()
  return namespaceId(slug)
}

/** A namespace, with the role of the user if the user is a member. @throws Rejected not_found */
export const namespaceById = async (
  reads: NamespaceReads,
  id: string,
  userId: string | undefined,
): Promise<NamespaceView> => {
  if (!isId(id)) throw noNamespace()
  reads.assertNotQuarantined(`namespace-${id}`)
  const [row] = await reads.rows<NamespaceRow & Row>('namespace', oneStatement, [id, userId ?? null])
  if (!row) throw noNamespace()
  return toView(row)
}

/** Whether a namespace with this id exists. */
export const isTaken = async (reads: NamespaceReads, id: string): Promise<boolean> =>
  (await reads.rows('namespace-exists', 'select from namespaces where id = $1', [id])).length > 0

const avatarStatement = 'select avatar_storage_id from namespaces where id = $1'

/** The key of a namespace's avatar in the `AvatarStore`; undefined if there is no such namespace, or it has no avatar. */
export const avatarIdOf = async (
  reads: NamespaceReads,
  namespaceId: string,
): Promise<{ readonly namespaceId: string; readonly storageId: string } | undefined> => {
  type AvatarRow = Pick<NamespaceRow, 'avatar_storage_id'> & Row
  reads.assertNotQuarantined(`namespace-${namespaceId}`)
  const [row] = await reads.rows<AvatarRow>('namespace-avatar', avatarStatement, [namespaceId])
  return row?.avatar_storage_id ? { namespaceId, storageId: row.avatar_storage_id } : undefined
}

/** A namespace that the user is a member of. @throws Rejected not_found, forbidden */
export const namespaceOfMember = async (reads: NamespaceReads, id: string, userId: string): Promise<NamespaceInfo> => {
  const { role, ...namespace } = await namespaceById(reads, id, userId)
  if (role === undefined) throw new Rejected('forbidden', NOT_MEMBER)
  return { ...namespace, role }
}

/** A namespace that the caller is an admin of. @throws Rejected not_found, forbidden */
export const namespaceOfAdmin = async (
  reads: NamespaceReads,
  id: string,
  { userId }: Caller,
): Promise<NamespaceInfo> => {
  const namespace = await namespaceOfMember(reads, id, userId)
  if (namespace.role !== 'admin') throw new Rejected('forbidden', NOT_ADMIN)
  return namespace
}

/** The namespaces that a user is a member of, in the order of joining. */
export const namespacesOf = async (reads: NamespaceReads, userId: string): Promise<NamespaceInfo[]> =>
  (await reads.rows<NamespaceRow & { role: Role } & Row>('namespaces-of-user', ofUserStatement, [userId]))
    .filter(({ id }) => reads.isNotQuarantined(`namespace-${id}`))
    .map((row) => ({ ...toView(row), role: row.role }))

const memberRows = (db: Kysely<ReadTables>, namespaceId: string) =>
  db
    .selectFrom('members as m')
    .leftJoin('users as u', 'u.id', 'm.user_id')
    .select(['m.user_id', 'm.role', 'm.invited_by', 'm.joined_at', 'u.display_name'])
    .where('m.namespace_id', '=', namespaceId)
    .orderBy('m.joined_at')
    .orderBy('m.user_id')

type MemberRow = Awaited<ReturnType<ReturnType<typeof memberRows>['execute']>>[number]

const toMember = ({ user_id, role, invited_by, joined_at, display_name }: MemberRow): MemberView => ({
  user: toUser({ id: user_id, display_name }),
  role,
  ...(invited_by === null ? {} : { invitedBy: invited_by }),
  joinedAt: Number(joined_at),
})

/** The members of a namespace, in the order of joining. */
export const membersOf = (reads: NamespaceReads, id: string): Promise<MemberView[]> =>
  reads.query(async (db) => (await memberRows(db, id).execute()).map(toMember))

/** A member of a namespace; undefined for any other user. */
export const memberOf = (reads: NamespaceReads, id: string, userId: string): Promise<MemberView | undefined> =>
  reads.query(async (db) => {
    if (!isId(userId)) return undefined
    const row = await memberRows(db, id).where('m.user_id', '=', userId).executeTakeFirst()
    return row && toMember(row)
  })

/** The last member of the previous page. */
export type AfterMember = readonly [joinedAt: number, userId: string]

type MembersPage = { readonly members: readonly MemberView[]; readonly next: AfterMember | undefined }

/** A page of the members of a namespace in the order of joining, without one of them. */
export const otherMembers = (
  reads: NamespaceReads,
  id: string,
  {
    userId,
    after,
    limit,
  }: { readonly userId: string; readonly after: AfterMember | undefined; readonly limit: number },
): Promise<MembersPage> =>
  reads.query(async (db) => {
    const others = memberRows(db, id).where('m.user_id', '<>', userId)
    const beyond =
      after === undefined
        ? others
        : others.where((eb) => eb(eb.refTuple('m.joined_at', 'm.user_id'), '>', eb.tuple(BigInt(after[0]), after[1])))
    const found = (await beyond.limit(limit + 1).execute()).map(toMember)
    const members = found.slice(0, limit)
    const last = members.at(-1)
    return { members, next: found.length > limit && last ? [last.joinedAt, last.user.id] : undefined }
  })

const countStatement = `
  select count(*)::int4 as members, (count(*) filter (where role = 'admin'))::int4 as admins from members where namespace_id = $1`

/** How many members a namespace has, and how many of them are admins. */
export const countMembers = async (
  reads: NamespaceReads,
  id: string,
): Promise<{ readonly members: number; readonly admins: number }> => {
  const [row] = await reads.rows<{ members: number; admins: number }>('count-members', countStatement, [id])
  return row!
}
