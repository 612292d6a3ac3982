import type { Client } from '../../eventstore/engine/checkpoint.ts'
import {
  hasLogLostEvents,
  advanceStatement,
  readProcessCheckpoint,
} from '../../eventstore/engine/process-checkpoint.ts'
import type { EventLog } from '../../eventstore/log/log.ts'

/** The name of the checkpoint that says up to where deletions have been read from the log. */
export const ERASURE_CHECKPOINT = 'erasure'

/**
 * A common table expression `moved` that moves the checkpoint. If another process has moved it, `moved` has no row, and the rest
 * of the statement must do nothing. Takes the parameters of `advanceParameters`.
 */
export const MOVE_CHECKPOINT = `moved as (${advanceStatement(ERASURE_CHECKPOINT)})`

const startOverStatement = `
  with restarted as (
    update tracebook.processes set position = 0, epoch = null, event_position = null, event_id = null
    where name = '${ERASURE_CHECKPOINT}' and position = $1 returning 1
  ) delete from tracebook.erasures where exists (select from restarted)`

/**
 * The position from which to follow the log in this epoch. If the log has lost events that were read, this calls `onLost`, deletes
 * all pending erasures and starts at the beginning: the lost deletions must not be erased, and all others are found again.
 */
export const resumePosition = async (
  client: Client,
  log: EventLog,
  epoch: string,
  onLost: () => void,
): Promise<bigint> => {
  await client.query('insert into tracebook.processes (name, position) values ($1, 0) on conflict do nothing', [
    ERASURE_CHECKPOINT,
  ])
  const reached = await readProcessCheckpoint(client, ERASURE_CHECKPOINT)
  if (!(await hasLogLostEvents(log, reached, epoch))) return reached.position
  onLost()
  await client.query(startOverStatement, [reached.position])
  return 0n
}
