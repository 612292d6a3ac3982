import type { Client } from '../../eventstore/engine/checkpoint.ts'
import {
  type ProcessCheckpoint,
  hasLogLostEvents,
  readProcessCheckpoint,
} from '../../eventstore/engine/process-checkpoint.ts'
import type { EventLog, LogIdentity } from '../../eventstore/log/log.ts'
import { PROCESS, type StoredTree, assertEndsWell, readStoredTree } from './stored-tree.ts'

/** Where the process resumes: its position, and the state of the stored tree. */
type ResumePoint = { readonly position: bigint; readonly stored: StoredTree }

const keepStatement = `
  with kept as (
    update tracebook.processes set epoch = $2 where name = '${PROCESS}' and position = $1 returning 1
  ) update tracebook.tree set log = $3 where exists (select from kept)`

const reverifyStatement = `
  with restarted as (
    update tracebook.processes set position = 0, epoch = $2, event_position = null, event_id = null
    where name = '${PROCESS}' and position = $1 returning 1
  ) update tracebook.tree set log = $3, walk_size = size, walk_until = $4, walk_matched = -1
  where exists (select from restarted)`

/** Whether the leaves belong to this log, and it has not lost its end since. */
const areOfThisLog = async (
  log: EventLog,
  stored: StoredTree,
  reached: ProcessCheckpoint,
  { id, epoch }: LogIdentity,
): Promise<boolean> => {
  if (stored.size > 0 && stored.log !== id) return false
  if (stored.size > 0 && !stored.reverification && !reached.anchor) return false // the process would start at the beginning, and cover all events twice
  return !(await hasLogLostEvents(log, reached, epoch))
}

/**
 * Where to resume in this history of the log. If the leaves belong to another log, of which this one is a copy, or the log has lost its
 * end, `onReverify` is called, and the leaves are verified again from the log's beginning.
 * @throws TreeDiffers
 */
export const resume = async (
  client: Client,
  log: EventLog,
  identity: LogIdentity,
  onReverify: () => void,
): Promise<ResumePoint> => {
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
  onReverify()
  await client.query(reverifyStatement, [reached.position, epoch, id, await log.head()])
  return { position: 0n, stored: await readStoredTree(client) }
}

const coveredStatement = `
  select from tracebook.processes where name = '${PROCESS}' and position >= $1 and epoch = $2`

/** Whether all events up to this position have their leaves, in the log's current epoch. */
export const isCovered = async (
  client: Client,
  log: Pick<EventLog, 'identity'>,
  position: bigint,
): Promise<boolean> => {
  const { epoch } = await log.identity()
  return (await client.query(coveredStatement, [position, epoch])).rowCount === 1
}
