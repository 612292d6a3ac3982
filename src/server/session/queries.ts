import { sql } from 'kysely'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import type { ActiveNamespace, Caller } from '../http/caller.ts'
import { identityId } from '../../base/ids.ts'
import type { Role } from '../../contract/namespaces.ts'
import type { Credential } from '../user/decide.ts'

/** The caller of a token, undefined if there is none, and the checkpoint of the read models that it was read from. */
type CallerSnapshot = { readonly caller: Caller | undefined; readonly position: bigint }

type ActiveRow = { namespace_id: string | null; slug: string | null; role: Role | null }

type CallerRow = ActiveRow & {
  position: bigint
  id: string | null
  user_id: string
  identity_id: string
  device_name: string | null
  expires_at: bigint | null
}

/** SQL for the active membership of a user: in the wanted namespace, else in the oldest individual one, else the oldest membership. */
const activeMembership = (userId: string, wanted: string) => `
  select m.namespace_id, m.role, n.slug from members m join namespaces n on n.id = m.namespace_id
  where m.user_id = ${userId}
  order by m.namespace_id is distinct from ${wanted}, n.type <> 'individual', m.joined_at, m.namespace_id limit 1`

/** SQL condition on a session `s`. Removing an identity ends all its sessions, even one that starts at the same time. */
export const SESSION_NOT_ENDED =
  's.revoked_at is null and not exists (select from removed_identities r where r.id = s.identity_id)'

const callerStatement = `
  select c.position, s.id, s.user_id, s.identity_id, s.device_name, s.expires_at, a.namespace_id, a.slug, a.role
  from reached c
  left join sessions s on s.token_hash = $1 and ${SESSION_NOT_ENDED}
  left join lateral (${activeMembership('s.user_id', 's.namespace_id')}) a on true`

const activeOf = ({ namespace_id: id, slug, role }: ActiveRow): ActiveNamespace | undefined =>
  id === null ? undefined : { id, slug: slug!, role: role! }

/** Reads the caller of a token by its hash, in one statement. Does not check whether the session has expired. */
export const readCaller = async (reads: Pick<Reads<ReadTables>, 'rows'>, hash: string): Promise<CallerSnapshot> => {
  const [row] = await reads.rows<CallerRow & Row>('caller', callerStatement, [hash])
  const { position, id, user_id, identity_id, device_name, expires_at } = row!
  if (id === null) return { caller: undefined, position }
  const caller: Caller = {
    userId: user_id,
    identityId: identity_id,
    sessionId: id,
    namespace: activeOf(row!),
    via: 'bearer',
    deviceName: device_name === null ? undefined : (JSON.parse(device_name) as string),
    expiresAt: expires_at === null ? undefined : Number(expires_at),
  }
  return { caller, position }
}

const endedStatement = `select from sessions s where s.id = $1 and not (${SESSION_NOT_ENDED})`

/** Whether a session was revoked, or its identity removed. Does not check whether it has expired. */
export const hasEnded = async (reads: Reads<ReadTables>, sessionId: string): Promise<boolean> =>
  (await reads.rows('ended-session', endedStatement, [sessionId])).length > 0

/** A user, and the namespace that a new session of the user is active in; undefined if the user is not a member of any. */
export type UserAndNamespace = { readonly userId: string; readonly active: ActiveNamespace | undefined }

/** The id of an identity, and its user; if it has no user, it does not exist yet and is created with this id. */
export type IdentityLookup = { readonly id: string; readonly user: UserAndNamespace | undefined }

const identityStatement = `
  select l.removed, i.id, i.user_id, a.namespace_id, a.slug, a.role
  from (
    select count(*) as removed from identities o join removed_identities r on r.id = o.id where o.first_id = $1
  ) l
  left join identities i on i.first_id = $1 and not exists (select from removed_identities r where r.id = i.id)
  left join lateral (${activeMembership('i.user_id', '$2::uuid')}) a on true`

/** Finds the identity of a credential, and its user with the namespace that a new session would be active in. */
export const findIdentity = async (
  reads: Reads<ReadTables>,
  { type, key }: Pick<Credential, 'type' | 'key'>,
  wantedNamespaceId?: string,
): Promise<IdentityLookup> => {
  type Found = ActiveRow & { removed: bigint; id: string | null; user_id: string } & Row
  const values = [identityId(type, key), wantedNamespaceId ?? null]
  const [row] = await reads.rows<Found>('identity', identityStatement, values)
  const { removed, id, user_id: userId } = row!
  if (id === null) return { id: identityId(type, key, Number(removed)), user: undefined }
  return { id, user: { userId, active: activeOf(row!) } }
}

const userStatement = `select a.* from (select) one left join lateral (${activeMembership('$1::uuid', '$2::uuid')}) a on true`

/** A user, with the namespace that a new session would be active in: the wanted one if the user is a member of it. */
export const userAndNamespace = async (
  reads: Reads<ReadTables>,
  userId: string,
  wantedNamespaceId?: string,
): Promise<UserAndNamespace> => {
  const [row] = await reads.rows<ActiveRow & Row>('user-namespace', userStatement, [userId, wantedNamespaceId ?? null])
  return { userId, active: activeOf(row!) }
}

/** A user's sessions that are valid at `now`, newest first; the time of last use is the stored one. */
export const sessionsOf = (reads: Reads<ReadTables>, userId: string, now: number) =>
  reads.query(async (db) => {
    const rows = await db
      .selectFrom('sessions as s')
      .leftJoin('tracebook.session_uses as u', 'u.session_id', 's.id')
      .select([
        's.id',
        's.identity_id',
        's.namespace_id',
        's.device_name',
        's.created_at',
        's.expires_at',
        'u.last_used_at',
      ])
      .where('s.user_id', '=', userId)
      .where(sql<boolean>`${sql.raw(SESSION_NOT_ENDED)}`)
      .where((eb) => eb.or([eb('s.expires_at', 'is', null), eb('s.expires_at', '>', BigInt(now))]))
      .orderBy('s.created_at', 'desc')
      .orderBy('s.id', 'desc')
      .execute()
    return rows.map((row) => ({
      id: row.id,
      userId,
      identityId: row.identity_id,
      ...(row.namespace_id === null ? {} : { namespaceId: row.namespace_id }),
      ...(row.device_name === null ? {} : { deviceName: JSON.parse(row.device_name) as string }),
      createdAt: Number(row.created_at),
      ...(row.last_used_at === null ? {} : { lastUsedAt: Number(row.last_used_at) }),
      ...(row.expires_at === null ? {} : { expiresAt: Number(row.expires_at) }),
    }))
  })
