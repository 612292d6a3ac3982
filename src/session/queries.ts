import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { ActiveNamespace, Caller } from '../http/caller.ts'
import type { Role } from '../namespace/events.ts'

/** A caller, if there is one, and the checkpoint of the snapshot that says so. */
export type Found = { readonly caller: Caller | undefined; readonly position: bigint }

type ActiveRow = { namespace_id: string | null; slug: string | null; role: Role | null }

type CallerRow = ActiveRow & {
  position: bigint
  id: string | null
  user_id: string
  identity_id: string
  device_name: string | null
  expires_at: bigint | null
}

/**
 * The membership of a user that is active: that of the wanted namespace, else of the oldest individual one, else the
 * oldest (readings: Identity and sessions).
 */
const activeMembership = (userId: string, wanted: string) => `
  select m.namespace_id, m.role, n.slug from members m join namespaces n on n.id = m.namespace_id
  where m.user_id = ${userId}
  order by m.namespace_id is distinct from ${wanted}, n.type <> 'individual', m.joined_at, m.namespace_id limit 1`

const callerStatement = `
  select c.position, s.id, s.user_id, s.identity_id, s.device_name, s.expires_at, a.namespace_id, a.slug, a.role
  from reached c
  left join sessions s on s.token_hash = $1 and s.revoked_at is null
  left join lateral (${activeMembership('s.user_id', 's.namespace_id')}) a on true`

const activeOf = ({ namespace_id: id, slug, role }: ActiveRow): ActiveNamespace | undefined =>
  id === null ? undefined : { id, slug: slug!, role: role! }

/** The caller behind the hash of a token, in one statement; whether the session has expired is not asked. */
export const findCaller = async (reads: Pick<Reads<ReadTables>, 'rows'>, hash: string): Promise<Found> => {
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

/** Somebody who signs in with an identity that is known. */
export type KnownUser = { readonly userId: string; readonly active: ActiveNamespace | undefined }

const knownStatement = `
  select i.user_id, a.namespace_id, a.slug, a.role from identities i
  left join lateral (${activeMembership('i.user_id', '$2::uuid')}) a on true where i.id = $1`

/** The user of an identity, with the namespace that a new session would be active in; undefined when it is new. */
export const findUser = async (
  reads: Reads<ReadTables>,
  identityId: string,
  wantedNamespaceId: string | undefined,
): Promise<KnownUser | undefined> => {
  type Known = ActiveRow & { user_id: string } & Row
  const [row] = await reads.rows<Known>('known-user', knownStatement, [identityId, wantedNamespaceId ?? null])
  return row && { userId: row.user_id, active: activeOf(row) }
}

/** A user's sessions that are valid at `now`, newest first; the time of last use is the stored one. */
export const sessionsOf = (reads: Reads<ReadTables>, userId: string, now: number) =>
  reads.ask(async (db) => {
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
      .where('s.revoked_at', 'is', null)
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
