import { Logger, runMigrations } from 'graphile-worker'
import { groups } from '../../projections/index.ts'
import { ensureSchema, finishSchema } from '../../src/eventstore/engine/schema.ts'
import { newClient } from '../../src/eventstore/postgres/connect.ts'
import { migrate } from '../../src/eventstore/postgres/migrate.ts'
import { indexLockedJobs } from '../../src/server/summary/worker-liveness.ts'
import { newJobPool } from '../../src/server/summary/job-runner.ts'

/**
 * Creates in an empty database everything that a service creates at its first start: operational tables, empty read models and the
 * tables of the job runner. It runs as a process of its own, so that a long watch always runs the current code.
 */
const [url = ''] = process.argv.slice(2)
await migrate(url)
const client = newClient(url, 'template')
await client.connect()
for (const group of groups) {
  await ensureSchema(client, group)
  await finishSchema(client, group)
}
await client.end()
const { pool, close } = newJobPool(url, 1)
await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) })
await indexLockedJobs(pool)
await close()
