import type { Client } from '../../eventstore/engine/checkpoint.ts'
import type { EventLog } from '../../eventstore/log/log.ts'
import { newClient, withConnection } from '../../eventstore/postgres/connect.ts'
import { type Work, beginWork, cover } from './cover.ts'
import { newEventHashing } from './growth.ts'
import { TreeDiffers } from './stored-tree.ts'

const lastLeafStatement = `
  select stream, event_id as id from tracebook.leaves where lost is null order by index desc limit 1`

/** Whether the log has the event of the last leaf; true without leaves. */
const holdsLastLeaf = async (client: Client, log: EventLog): Promise<boolean> => {
  const { rows } = await client.query<{ stream: string; id: string }>(lastLeafStatement)
  const [last] = rows
  if (!last) return true
  for await (const { id } of log.read(last.stream, { backwards: true })) if (id === last.id) return true
  return false
}

const coverAll = async (work: Work, log: EventLog, signal: AbortSignal): Promise<void> => {
  const head = await log.head()
  for await (const batch of log.follow({ after: work.position, signal })) {
    if (batch.through > work.position || work.reverification) await cover(work, log, batch)
    if (batch.through >= head) return
  }
  signal.throwIfAborted()
}

/**
 * Verifies the leaves in a database with the log that was copied for them, as the process of the audit tree would do at its start, so that
 * `audit verify` can be used at once. May be interrupted and repeated; the process continues it.
 * @throws TreeDiffers for another log, or one that ends before the leaves; the reason of `signal` if it aborts
 */
export const matchTree = (url: string, log: EventLog, signal: AbortSignal): Promise<void> =>
  withConnection(newClient(url, 'audit'), async (client) => {
    if (!(await holdsLastLeaf(client, log)))
      throw new TreeDiffers(
        'the audit tree has leaves of events that were not copied, because the source was written to during the copy. ' +
          'Stop its service, and copy into an empty database and log again',
      )
    const hashing = newEventHashing()
    try {
      await coverAll(await beginWork(client, log, hashing), log, signal)
    } finally {
      await hashing.close()
    }
  })
