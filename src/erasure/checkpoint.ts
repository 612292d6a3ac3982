import type { Client } from '../engine/checkpoint.ts'
import { hasLogLostEvents, advanceStatement, readProcessCheckpoint } from '../engine/process-checkpoint.ts'
import type { EventLog } from '../log/log.ts'

/** How far the log has been looked through for deletions. */
const NAME = 'erasure'

/** A common table expression `moved`: nothing else of the statement happens when another process has moved the checkpoint. */
export const MOVED = `moved as (${advanceStatement(NAME)})`

const startOver = `
  with begun as (
    update tracebook.processes set position = 0, epoch = null, event_position = null, event_id = null
    where name = '${NAME}' and position = $1 returning 1
  ) delete from tracebook.erasures where exists (select from begun)`

/**
 * Where to go on in this epoch of the log. One that has lost what was seen is looked through anew, and what was due by it
 * is forgotten: a deletion that was lost must erase nothing, and all others are found again.
 */
export const whereToGoOn = async (client: Client, log: EventLog, epoch: string, lost: () => void): Promise<bigint> => {
  await client.query('insert into tracebook.processes (name, position) values ($1, 0) on conflict do nothing', [NAME])
  const reached = await readProcessCheckpoint(client, NAME)
  if (!(await hasLogLostEvents(log, reached, epoch))) return reached.position
  lost()
  await client.query(startOver, [reached.position])
  return 0n
}
