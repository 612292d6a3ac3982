import type { Client } from '../engine/checkpoint.ts'
import { type ProcessCheckpoint, hasLogLostEvents, readProcessCheckpoint } from '../engine/process-checkpoint.ts'
import type { EventLog, LogIdentity } from '../log/log.ts'
import { PROCESS, type StoredTree, assertEndsWell, readStoredTree } from './stored-tree.ts'

/** Where the process goes on: the position it has reached, and what is stored of the tree. */
export type Resumed = { readonly position: bigint; readonly stored: StoredTree }

const keepStatement = `
  with kept as (
    update tracebook.processes set epoch = $2 where name = '${PROCESS}' and position = $1 returning 1
  ) update tracebook.tree set log = $3 where exists (select from kept)`

const walkStatement = `
  with restarted as (
    update tracebook.processes set position = 0, epoch = $2, event_position = null, event_id = null
    where name = '${PROCESS}' and position = $1 returning 1
  ) update tracebook.tree set log = $3, walk_size = size, walk_until = $4, walk_matched = -1
  where exists (select from restarted)`

/** Whether the leaves belong to the log as it is: to no other one or unknown one, and to none that has lost its end since. */
const areOfThisLog = async (
  log: EventLog,
  stored: StoredTree,
  reached: ProcessCheckpoint,
  { id, epoch }: LogIdentity,
): Promise<boolean> => {
  if (stored.size > 0 && stored.log !== id) return false
  if (stored.size > 0 && !stored.walk && !reached.anchor) return false // it would begin again, and cover all twice
  return !(await hasLogLostEvents(log, reached, epoch))
}

/**
 * Where to go on in this history of the log. When the leaves belong to another log, of which this one is a copy, or the log
 * has lost its end, they are matched with it from its beginning; `onWalk` is called then.
 * @throws TreeDiffers
 */
export const resume = async (
  client: Client,
  log: EventLog,
  identity: LogIdentity,
  onWalk: () => void,
): Promise<Resumed> => {
  await client.query('insert into tracebook.processes (name, position) values ($1, 0) on conflict do nothing', [
    PROCESS,
  ])
  const reached = await readProcessCheckpoint(client, PROCESS)
  const stored = await readStoredTree(client)
  await assertEndsWell(client, stored)
  const { id, epoch } = identity
  if (await areOfThisLog(log, stored, reached, identity)) {
    await client.query(keepStatement, [reached.position, epoch, id])
    return { position: reached.position, stored }
  }
  onWalk()
  await client.query(walkStatement, [reached.position, epoch, id, await log.head()])
  return { position: 0n, stored: await readStoredTree(client) }
}

const coveredStatement = `
  select from tracebook.processes where name = '${PROCESS}' and position >= $1 and epoch = $2`

/** Whether all events up to this position have their leaves, in the log's present history. */
export const isCovered = async (
  client: Client,
  log: Pick<EventLog, 'identity'>,
  position: bigint,
): Promise<boolean> => {
  const { epoch } = await log.identity()
  return (await client.query(coveredStatement, [position, epoch])).rowCount === 1
}
