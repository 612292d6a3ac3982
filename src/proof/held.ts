import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Anchor, EventLog } from '../log/log.ts'

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
