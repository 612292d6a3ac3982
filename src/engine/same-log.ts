import { setTimeout } from 'node:timers/promises'
import type { EventLog } from '../log/log.ts'
import { hangUp, newClient } from '../postgres/connect.ts'
import { readCheckpoint } from './read-models.ts'

const PATIENCE_MS = 2_000 // a node of a cluster may be behind the one that the read models were filled from
const AGAIN_MS = 100
const STATEMENT_MS = 5_000

/** The read models have seen more than the log holds: they were filled from another one, or it is older than they are. */
export class OtherLog extends Error {
  override readonly name = 'OtherLog'
}

const checkpointOf = async (url: string, schema: string): Promise<bigint> => {
  const client = newClient(url, 'start', STATEMENT_MS)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(`select to_regclass('${schema}.checkpoint') is not null as there`)
    return rows[0].there ? (await readCheckpoint(client, schema)).position : 0n
  } finally {
    await hangUp(client)
  }
}

/**
 * Keeps read models from going on with a log that is not theirs: its new events would stand before the checkpoint, and
 * never be shown.
 * @throws OtherLog with what to look at
 */
export const assertSameLog = async (url: string, schema: string, log: Pick<EventLog, 'head'>): Promise<void> => {
  const seen = await checkpointOf(url, schema)
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const head = await log.head()
    if (head >= seen) return
    if (performance.now() > until)
      throw new OtherLog(
        `the read models in DATABASE_URL have seen position ${seen}, but the log ends at ${head}: it is another log, or an ` +
          'older copy. Look at EVENTSTORE_URL; for a log that was moved or restored, use an empty database',
      )
    await setTimeout(AGAIN_MS)
  }
}
