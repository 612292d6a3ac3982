import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { ExplainedUnavailable, Unavailable } from '../../eventstore/engine/rejected.ts'
import { notFound, unauthorized } from '../http/http-error.ts'
import { int8s, uuids } from '../../eventstore/postgres/arrays.ts'
import { SESSION_NOT_ENDED } from '../session/queries.ts'
import type { Visibility } from '../../contract/trace.ts'
import type { Reader } from '../http/long-list.ts'

type RightsRow = {
  position: bigint
  has_session: boolean
  is_member: boolean
  visibility: Visibility | null
  incarnation: bigint | null
  erased: bigint | null
  linked: number
}

const statement = `
  select c.position, s.id is not null as has_session, m.user_id is not null as is_member, t.visibility, t.incarnation, t.erased, (
    select count(*)::int4 from unnest($5::uuid[], $6::int8[]) k (id, created_at) cross join lateral (
      select * from traces r where r.id = k.id limit 1
    ) l where l.created_at = k.created_at and ($7 or l.visibility = 'public')
  ) as linked
  from reached c
  left join sessions s on s.id = $1 and ${SESSION_NOT_ENDED}
  left join members m on m.namespace_id = $2 and m.user_id = $3
  left join traces t on t.id = $4`

/**
 * Checks that a reader may still read this incarnation of the trace, or the list of the namespace, and the linked traces.
 * Returns the checkpoint of the snapshot of this check. @throws 401 or 404 if the reader may not read it; Unavailable if that cannot be checked,
 * the past of the trace was erased meanwhile, or a linked trace may not be read any more
 */
export const checkRight = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { caller, namespaceId, traceId, isMember, linked = [] }: Reader,
  incarnation?: bigint,
): Promise<bigint> => {
  const values = [
    ...[caller?.sessionId ?? null, namespaceId, caller?.userId ?? null, traceId ?? null],
    ...[uuids(linked.map(({ id }) => id)), int8s(linked.map(({ createdAt }) => createdAt)), isMember],
  ]
  const [row] = await reads.rows<RightsRow & Row>('right-to-read', statement, values)
  const { position, has_session, is_member, visibility, erased, linked: readable } = row!
  const isAnother = traceId !== undefined && row!.incarnation !== incarnation
  if (caller && !has_session) throw unauthorized()
  // It was deleted, and perhaps created again.
  if (isAnother && erased === null) throw notFound()
  const isPublic = visibility === 'public'
  if (isMember ? !is_member : !isPublic) throw caller ? notFound() : unauthorized()
  if (isAnother)
    throw new ExplainedUnavailable(
      'The past of the trace was erased while it was read, and its present is still there: ask again',
    )
  if (readable < linked.length)
    throw new Unavailable('a session that this answer links to may not be read any more: ask again')
  return position
}
