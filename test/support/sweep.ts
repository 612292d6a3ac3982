import pg from 'pg'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'

/** Takes away what deletions have left behind, where no erasure process does. */
export const sweepAll = async (url: string, schema = schemaOf(mainGroup)): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    while (await mainGroup.sweep!(client, schema));
  } finally {
    await client.end()
  }
}
