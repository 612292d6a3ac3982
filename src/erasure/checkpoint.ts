import type { Client } from '../engine/checkpoint.ts'
import { hasLogLostEvents, advanceStatement, readProcessCheckpoint } from '../engine/process-checkpoint.ts'
import type { EventLog } from '../log/log.ts'

/** The name of the checkpoint up to which deletions have been read from the log. */
export const NAME = 'erasure'

/**
 * A common table expression `moved` that moves the checkpoint. It has no row when another process has moved it; then the rest
 * of the statement must do nothing. Takes the parameters of `advanceParameters`.
 */
export const MOVE_CHECKPOINT = `moved as (${advanceStatement(NAME)})`

const startOverStatement = `
  with restarted as (
    update tracebook.processes set position = 0, epoch = null, event_position = null, event_id = null
    where name = '${NAME}' and position = $1 returning 1
  ) delete from tracebook.erasures where exists (select from restarted)`

/**
 * The position to follow the log from in this epoch. When the log has lost events that were read, all pending erasures are
 * deleted and the log is followed from its beginning: a lost deletion must erase nothing, and all others are found again.
 * `onLost` is called then.
 */
export const resumePosition = async (
  client: Client,
  log: EventLog,
  epoch: string,
  onLost: () => void,
): Promise<bigint> => {
  await client.query('insert into tracebook.processes (name, position) values ($1, 0) on conflict do nothing', [NAME])
  const reached = await readProcessCheckpoint(client, NAME)
  if (!(await hasLogLostEvents(log, reached, epoch))) return reached.position
  onLost()
  await client.query(startOverStatement, [reached.position])
  return 0n
}
