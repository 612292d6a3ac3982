import { type Selectable, sql } from 'kysely'
import type { ReadTables } from '../../tables/main.ts'
import type { InviteState, InviteView, PublicInvite } from '../../contract/invites.ts'
import type { Reads } from '../../eventstore/engine/reads.ts'
import { inviteState } from './invite.ts'
import { avatarField } from './views.ts'

type InviteReads = Reads<ReadTables>
type InviteRow = Selectable<ReadTables['invites']>

const stateOfRow = (row: InviteRow, now: number): InviteState =>
  inviteState(
    {
      expiresAt: Number(row.expires_at),
      maxUses: row.max_uses === null ? undefined : Number(row.max_uses),
      useCount: Number(row.use_count),
      revokedAt: row.revoked_at === null ? undefined : Number(row.revoked_at),
    },
    now,
  )

const toView = (row: InviteRow, now: number): InviteView => ({
  code: row.code,
  namespaceId: row.namespace_id,
  invitedBy: row.invited_by,
  role: row.role,
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
  ...(row.email === null ? {} : { email: JSON.parse(row.email) as string }),
  ...(row.max_uses === null ? {} : { maxUses: Number(row.max_uses) }),
  useCount: Number(row.use_count),
  ...(row.accepted_at === null ? {} : { acceptedAt: Number(row.accepted_at) }),
  ...(row.accepted_by === null ? {} : { acceptedBy: row.accepted_by }),
  ...(row.revoked_at === null ? {} : { revokedAt: Number(row.revoked_at) }),
  state: stateOfRow(row, now),
})

/** The invites of a namespace, newest first. */
export const invitesOf = (reads: InviteReads, namespaceId: string, now: number): Promise<InviteView[]> =>
  reads.query(async (db) => {
    const invites = db.selectFrom('invites').selectAll().where('namespace_id', '=', namespaceId)
    const rows = await invites.orderBy('created_at', 'desc').orderBy('code').execute()
    return rows.map((row) => toView(row, now))
  })

/** The invites of a namespace that an admin looks at: those that can still be used come first, then the newest ones. At most `limit`. */
export const shownInvites = (
  reads: InviteReads,
  namespaceId: string,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<InviteView[]> =>
  reads.query(async (db) => {
    const invites = db.selectFrom('invites').selectAll().where('namespace_id', '=', namespaceId)
    const isOpen = sql<boolean>`revoked_at is null and expires_at > ${now}::int8 and (coalesce(max_uses, 1) = 0 or use_count < coalesce(max_uses, 1))`
    const rows = await invites
      .orderBy(isOpen, 'desc')
      .orderBy('created_at', 'desc')
      .orderBy('code')
      .limit(limit)
      .execute()
    return rows.map((row) => toView(row, now))
  })

/** An invite as the service reads it for somebody who has its code; only `invite` is in answers of the API. */
export type FoundInvite = {
  readonly namespaceId: string
  readonly invite: PublicInvite
  /** The name of the admin who made it, if they have one. */
  readonly invitedBy: string | undefined
  /** The e-mail address that a user has to have. */
  readonly email: string | undefined
}

/** An invite by its code, with its namespace; undefined when no invite has this code. */
export const inviteByCode = (reads: InviteReads, code: string, now: number): Promise<FoundInvite | undefined> =>
  reads.query(async (db) => {
    const row = await db
      .selectFrom('invites as i')
      .innerJoin('namespaces as n', 'n.id', 'i.namespace_id')
      .leftJoin('users as u', 'u.id', 'i.invited_by')
      .selectAll('i')
      .select(['n.slug', 'n.display_name', 'n.avatar_storage_id', 'u.display_name as inviter'])
      .where('i.code', '=', code)
      .orderBy('i.created_at')
      .limit(1)
      .executeTakeFirst()
    if (!row) return undefined
    reads.assertNotQuarantined(`namespace-${row.namespace_id}`)
    const { slug, display_name, avatar_storage_id, namespace_id: namespaceId, role, inviter, email } = row
    const namespace = { slug, displayName: JSON.parse(display_name) as string, ...avatarField(slug, avatar_storage_id) }
    return {
      namespaceId,
      invite: { namespace, role, expiresAt: Number(row.expires_at), state: stateOfRow(row, now) },
      invitedBy: inviter === null ? undefined : (JSON.parse(inviter) as string),
      email: email === null ? undefined : (JSON.parse(email) as string),
    }
  })
