import type { ReadTables } from '../../projections/index.ts'
import { sql } from 'kysely'
import type { Reads, Row } from '../engine/reads.ts'
import type { ActiveNamespace, Caller } from '../http/caller.ts'
import { identityId } from '../ids.ts'
import type { Role } from '../namespace/events.ts'
import type { Credential } from './new-identity.ts'

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
 * oldest.
 */
const activeMembership = (userId: string, wanted: string) => `
  select m.namespace_id, m.role, n.slug from members m join namespaces n on n.id = m.namespace_id
  where m.user_id = ${userId}
  order by m.namespace_id is distinct from ${wanted}, n.type <> 'individual', m.joined_at, m.namespace_id limit 1`

/** Of a session `s`: whoever removes an identity ends the sessions that were made with it, also those made meanwhile. */
export const SESSION_STANDS =
  's.revoked_at is null and not exists (select from removed_identities r where r.id = s.identity_id)'

const callerStatement = `
  select c.position, s.id, s.user_id, s.identity_id, s.device_name, s.expires_at, a.namespace_id, a.slug, a.role
  from reached c
  left join sessions s on s.token_hash = $1 and ${SESSION_STANDS}
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

const endedStatement = `select from sessions s where s.id = $1 and not (${SESSION_STANDS})`

/** Whether a session has been ended, be it by itself or with its identity; whether it has expired is not asked. */
export const hasEnded = async (reads: Reads<ReadTables>, sessionId: string): Promise<boolean> =>
  (await reads.rows('ended-session', endedStatement, [sessionId])).length > 0

/** Somebody who signs in with an identity that is known. */
export type KnownUser = { readonly userId: string; readonly active: ActiveNamespace | undefined }

/** An identity: that which stands, or that which is to be made when there is no user. */
export type FoundIdentity = { readonly id: string; readonly user: KnownUser | undefined }

const identityStatement = `
  select l.removed, i.id, i.user_id, a.namespace_id, a.slug, a.role
  from (
    select count(*) as removed from identities o join removed_identities r on r.id = o.id where o.first_id = $1
  ) l
  left join identities i on i.first_id = $1 and not exists (select from removed_identities r where r.id = i.id)
  left join lateral (${activeMembership('i.user_id', '$2::uuid')}) a on true`

/** The identity that somebody signs in with, and its user with the namespace that a new session would be active in. */
export const findIdentity = async (
  reads: Reads<ReadTables>,
  { type, key }: Pick<Credential, 'type' | 'key'>,
  wantedNamespaceId?: string,
): Promise<FoundIdentity> => {
  type Found = ActiveRow & { removed: bigint; id: string | null; user_id: string } & Row
  const values = [identityId(type, key), wantedNamespaceId ?? null]
  const [row] = await reads.rows<Found>('identity', identityStatement, values)
  const { removed, id, user_id: userId } = row!
  if (id === null) return { id: identityId(type, key, Number(removed)), user: undefined }
  return { id, user: { userId, active: activeOf(row!) } }
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
      .where(sql<boolean>`${sql.raw(SESSION_STANDS)}`)
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
