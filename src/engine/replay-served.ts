import type pg from 'pg'
import type { EventLog } from '../log/log.ts'
import { endLeaderSession } from '../postgres/leader.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { type Group, schemaOf } from './group.ts'
import type { QuarantinedStream } from './quarantine.ts'
import { replayStream } from './replay.ts'
import { locks } from './schema.ts'

/**
 * Replays a stream in the schema that serves, in one transaction, while its runner waits. The runner's session is ended,
 * because it holds the list of quarantined streams in memory: it starts again from the stored list. `client` has the
 * schema on its search path. Gives the first event that cannot be applied, if there is one: the stream is in quarantine
 * from there on.
 */
export const replayServed = async (
  { client, group }: { readonly client: pg.Client; readonly group: Group },
  source: { readonly log: EventLog; readonly codec: Codec },
  stream: string,
): Promise<QuarantinedStream | undefined> => {
  const schema = schemaOf(group)
  try {
    await client.query('begin')
    // The operator is told that it was done, so a crash of PostgreSQL must not undo it.
    await client.query('set local synchronous_commit = on')
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [locks.swap(schema)])
    const { position } = await readCheckpoint(client, schema)
    const culprit = await replayStream({ client, group, schema }, source, stream, position)
    await endLeaderSession(client, locks.runner(schema))
    await client.query('commit')
    return culprit
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
