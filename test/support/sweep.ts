import pg from 'pg'
import { readModels } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'

/** Takes away what deletions have left behind, where no erasure process does. */
export const sweepAll = async (url: string, schema = schemaOf(readModels)): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    while (await readModels.sweep!(client, schema));
  } finally {
    await client.end()
  }
}
