import type pg from 'pg'
import type { EventLog } from '../log/log.ts'
import { endLeader } from '../postgres/leader.ts'
import { readCheckpoint } from './checkpoint.ts'
import type { Codec } from './codec.ts'
import { type Group, schemaOf } from './group.ts'
import type { QuarantinedStream } from './quarantine.ts'
import { replayStream } from './replay.ts'
import { locks } from './schema.ts'

/**
 * Makes the rows of a stream anew in the schema that serves, in one transaction, while its runner waits: it has the
 * streams in quarantine in memory, so its session is ended, and it begins again from what is stored. `client` has the
 * schema on its search path. Gives the event that still cannot be applied: the stream is then in quarantine from there on.
 */
export const replayServed = async (
  { client, group }: { readonly client: pg.Client; readonly group: Group },
  source: { readonly log: EventLog; readonly codec: Codec },
  stream: string,
): Promise<QuarantinedStream | undefined> => {
  const schema = schemaOf(group)
  try {
    await client.query('begin')
    // Its events may take rights away: a crash of PostgreSQL must not undo what an operator was told.
    await client.query('set local synchronous_commit = on')
    await client.query('select pg_advisory_xact_lock(hashtext($1))', [locks.swap(schema)])
    const { position } = await readCheckpoint(client, schema)
    const culprit = await replayStream({ client, group, schema }, source, stream, position)
    await endLeader(client, locks.runner(schema))
    await client.query('commit')
    return culprit
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}
