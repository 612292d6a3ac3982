import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import { keyHash } from '../base/ids.ts'

/** So many of the traces with an externalId are looked at, the oldest first. */
const MOST = 20

const statement = `
  select id from (
    select id, external_id from traces where key = $1 order by created_at, id limit ${MOST}
  ) named where external_id = $2`

/**
 * The ids of traces that an externalId may name for one caller or another: what happens to one of them may change which
 * one it is. There may be more than are looked at.
 */
export const candidateIds = async (reads: Pick<Reads<ReadTables>, 'rows'>, externalId: string): Promise<string[]> => {
  const rows = await reads.rows<{ id: string } & Row>('trace-candidates', statement, [keyHash(externalId), externalId])
  return rows.map(({ id }) => id)
}

/** Whether there may be more than were looked at. */
export const areAll = (ids: readonly string[]): boolean => ids.length < MOST
