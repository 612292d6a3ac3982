import type { ReadTables } from '../../projections/index.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Caller } from '../http/caller.ts'
import { keyHash } from '../ids.ts'
import type { Role } from '../namespace/events.ts'
import { normalizeSlug } from '../namespace/slug.ts'
import type { Visibility } from './events.ts'
import type { Resolved } from './queries.ts'

type ResolvedRow = { id: string; namespace_id: string; created_by: string; visibility: Visibility; role: Role | null }

const statement = `
  select t.id, t.namespace_id, t.created_by, t.visibility, m.role
  from namespaces n
  join traces t on t.namespace_id = n.id and t.key = $3 and t.external_id = $4
  left join members m on m.namespace_id = n.id and m.user_id = $2
  where n.slug = $1 limit 1`

/** The trace that an externalId names in one namespace; undefined where it has none, and where there is no such namespace. */
export const resolveInNamespace = async (
  reads: Reads<ReadTables>,
  slug: string,
  externalId: string,
  caller: Caller | undefined,
): Promise<Resolved | undefined> => {
  const values = [normalizeSlug(slug) ?? null, caller?.userId ?? null, keyHash(externalId), externalId]
  const [row] = await reads.rows<ResolvedRow & Row>('trace-in-namespace', statement, values)
  if (!row) return undefined
  const { id, namespace_id, created_by, visibility, role } = row
  reads.assertNotQuarantined(`trace-${id}`, `namespace-${namespace_id}`)
  return { id, namespaceId: namespace_id, createdBy: created_by, visibility, role: role ?? undefined }
}
