import type { Anchor, EventLog } from '../../eventstore/log/log.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
import { uuids } from '../../eventstore/postgres/arrays.ts'
import { type SignedCheckpoint, type SignedRow, signedStatement, toSigned } from './signed-checkpoints.ts'
import type { Leaf } from './leaves.ts'

type ProofReads = Pick<Reads<ReadTables>, 'rows'>

/** The keys that have signed checkpoints, the newest first; none while the tree is refused. */
const servedStatement = (limit: string) =>
  `select k.* from (${signedStatement} ${limit}) k where not exists (select from tracebook.tree where refused is not null)
   order by number desc`

/** The checkpoint that is served; undefined if there is none, or no key is in use. */
export const servedCheckpoint = async (reads: ProofReads): Promise<SignedCheckpoint | undefined> => {
  const [row] = await reads.rows<SignedRow & Row>('audit-checkpoint', servedStatement('limit 1'))
  return row && !row.retired ? toSigned(row) : undefined
}

/** All keys that have signed checkpoints, the newest first. */
export const signedCheckpoints = async (reads: ProofReads): Promise<SignedCheckpoint[]> =>
  (await reads.rows<SignedRow & Row>('audit-keys', servedStatement(''))).map(toSigned)

type LeafRow = { event_id: string; index: bigint; hash: Buffer }

const leavesStatement = `
  select distinct on (event_id) event_id, index, hash from tracebook.leaves
  where event_id = any($1::uuid[]) and lost is null order by event_id, index desc`

/** The leaves of events by their ids, without those that have none yet. */
export const leavesOfEvents = async (
  reads: ProofReads,
  ids: readonly string[],
): Promise<Map<string, Pick<Leaf, 'index' | 'hash'>>> => {
  const rows = await reads.rows<LeafRow & Row>('audit-leaves', leavesStatement, [uuids(ids)])
  return new Map(rows.map(({ event_id, index, hash }) => [event_id, { index: Number(index), hash }]))
}

const statement = 'select from tracebook.leaves where event_id = $1 and position = $2 and lost is null'

/**
 * Whether the log has an event, or had it until it was erased: an erased event leaves its leaf, because erasure waits for the
 * leaf. @throws LogUnavailable, Unavailable
 */
export const isHeld = async (
  log: Pick<EventLog, 'holds'>,
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { position, id }: Anchor,
): Promise<boolean> => {
  const held = await log.holds(position, id)
  return held ?? (await reads.rows<Row>('audit-held', statement, [id, position])).length > 0
}
