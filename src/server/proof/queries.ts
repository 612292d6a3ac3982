import type { Anchor, EventLog } from '../../eventstore/log/log.ts'
import type { ReadTables } from '../../tables/main.ts'
import type { Reads, Row } from '../../eventstore/engine/reads.ts'
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

type LeafRow = { index: bigint; hash: Buffer }

const leafStatement = `
  select index, hash from tracebook.leaves where event_id = $1 and lost is null order by index desc limit 1`

/** The leaf of an event; undefined if it has none yet. */
export const leafOfEvent = async (
  reads: ProofReads,
  eventId: string,
): Promise<Pick<Leaf, 'index' | 'hash'> | undefined> => {
  const [row] = await reads.rows<LeafRow & Row>('audit-leaf', leafStatement, [eventId])
  return row && { index: Number(row.index), hash: row.hash }
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
