import type { ReadTables } from '../../projections/tables.ts'
import type { Reads, Row } from '../engine/reads.ts'
import type { Anchor, EventLog } from '../log/log.ts'

const statement = 'select from tracebook.leaves where event_id = $1 and position = $2 and lost is null'

/**
 * Whether the log holds an event, or has held it until it was erased: what is erased leaves its leaf, because erasure waits
 * for that. @throws LogUnavailable, Unavailable
 */
export const isHeld = async (
  log: Pick<EventLog, 'holds'>,
  reads: Pick<Reads<ReadTables>, 'rows'>,
  { position, id }: Anchor,
): Promise<boolean> => {
  const held = await log.holds(position, id)
  return held ?? (await reads.rows<Row>('audit-held', statement, [id, position])).length > 0
}
