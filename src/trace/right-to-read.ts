import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { notFound, unauthorized } from '../http/http-error.ts'
import { SESSION_NOT_ENDED } from '../session/queries.ts'
import type { Visibility } from '../contract/trace.ts'
import type { Reader } from '../http/long-list.ts'

type RightsRow = { position: bigint; has_session: boolean; is_member: boolean; visibility: Visibility | null }

const statement = `
  select c.position, s.id is not null as has_session, m.user_id is not null as is_member, t.visibility
  from reached c
  left join sessions s on s.id = $1 and ${SESSION_NOT_ENDED}
  left join members m on m.namespace_id = $2 and m.user_id = $3
  left join traces t on t.id = $4 and t.incarnation = $5`

/**
 * Checks that a reader may still read this incarnation of the trace, or the list of the namespace.
 * Returns the checkpoint of the snapshot of this check. @throws 401, 404 if not, Unavailable if the check is not possible
 */
export const checkRight = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { caller, namespaceId, traceId, isMember }: Reader,
  incarnation?: bigint,
): Promise<bigint> => {
  const values = [caller?.sessionId ?? null, namespaceId, caller?.userId ?? null, traceId ?? null, incarnation ?? null]
  const [row] = await reads.rows<RightsRow & Row>('right-to-read', statement, values)
  const { position, has_session, is_member, visibility } = row!
  if (caller && !has_session) throw unauthorized()
  if (traceId !== undefined && visibility === null) throw notFound()
  const isPublic = visibility === 'public'
  if (isMember ? !is_member : !isPublic) throw caller ? notFound() : unauthorized()
  return position
}
