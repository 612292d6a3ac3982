import pg from 'pg'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'

/** Sweeps the rows that deletions have left, for tests without an erasure process. */
export const sweepAll = async (url: string, schema = schemaOf(mainGroup)): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    while (await mainGroup.sweep!(client, schema));
  } finally {
    await client.end()
  }
}
