import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { keyHash } from '../../base/ids.ts'

/** The most traces with one `externalId` that are read, the oldest first. */
const MOST = 20

const statement = `
  select id from (
    select id, external_id from traces where key = $1 order by created_at, id limit ${MOST}
  ) named where external_id = $2`

/** The ids of all traces with an `externalId`. Which of these the `externalId` names depends on the caller, and a change of any of them may change it. */
export const idsWithExternalId = async (
  reads: Pick<Reads<ReadTables>, 'rows'>,
  externalId: string,
): Promise<string[]> => {
  const rows = await reads.rows<{ id: string } & Row>('trace-candidates', statement, [keyHash(externalId), externalId])
  return rows.map(({ id }) => id)
}

/** Whether these are all ids: `idsWithExternalId` reads at most `MOST`. */
export const areAllIds = (ids: readonly string[]): boolean => ids.length < MOST
