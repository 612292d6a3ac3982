import type pg from 'pg'
import { mainGroup, timelineGroup } from '../../../../projections/index.ts'
import { newBatchApplier } from '../../../../src/eventstore/engine/batch-applier.ts'
import { readCheckpoint } from '../../../../src/eventstore/engine/checkpoint.ts'
import { schemaOf } from '../../../../src/eventstore/engine/group.ts'
import { locks } from '../../../../src/eventstore/engine/schema.ts'
import { newApplyingClient, newClient } from '../../../../src/eventstore/postgres/connect.ts'
import type { App } from '../../../support/open-app.ts'
import { type EmptyWorld, type Person, newEmptyWorld, signIn } from '../../../support/world.ts'
import { smallSegments } from './open-search.ts'

const schema = schemaOf(smallSegments)

/** A service that does not keep its index up, because the test holds the lease for that; and two users. */
export type IndexedByHand = Pick<EmptyWorld, 'database' | 'close'> & {
  lease: pg.Client
  app: App
  owner: Person
  other: Person
}

export const openIndexedByHand = async (): Promise<IndexedByHand> => {
  const env = { SUMMARY_PROVIDER: 'none' } // a summary would come into the log by itself, after 30 seconds
  const world = await newEmptyWorld({ groups: [mainGroup, timelineGroup, smallSegments], env })
  const lease = newClient(world.database.url, 'test')
  await lease.connect()
  await lease.query('select pg_advisory_lock(hashtext($1))', [locks.runner(schema)])
  const app = await world.openNode()
  const close = async () => {
    await lease.end()
    await world.close()
  }
  return { database: world.database, lease, app, owner: await signIn(app), other: await signIn(app), close }
}

/** The process that keeps the index up, step by step. */
export const openIndexer = async ({ database, app }: IndexedByHand) => {
  const { log, codec } = app.service
  const client = newApplyingClient(database.url, schema)
  await client.connect()
  const { epoch } = await log.identity()
  const quarantined: string[] = []
  const report = ({ stream }: { stream: string }) => void quarantined.push(stream)
  const target = { client, group: smallSegments, schema }
  const applier = await newBatchApplier({ target, log, codec, epoch, report })
  const rows = async <T extends object>(text: string): Promise<T[]> => (await client.query(text)).rows as T[]
  return {
    client,
    rows,
    quarantined,
    /** Applies all that the log has as one batch. */
    apply: async () => {
      const { position } = await readCheckpoint(client, schema)
      const events = await Array.fromAsync(log.readAll({ after: position }))
      if (events.length > 0) await applier.apply(events, position, await log.head())
    },
    workOff: applier.workOff,
    workOffAll: async () => {
      while (await applier.workOff());
    },
    /** How many rows of each namespace wait. */
    waiting: async (): Promise<number[]> => {
      const counted = 'select count(*)::int4 as count from search_backlog group by namespace_id order by namespace_id'
      return (await rows<{ count: number }>(counted)).map(({ count }) => count)
    },
    close: () => client.end(),
  }
}

/** Runs work with an indexer, and closes it. */
export const using = async (
  scene: IndexedByHand,
  work: (indexer: Awaited<ReturnType<typeof openIndexer>>) => Promise<void>,
) => {
  const indexer = await openIndexer(scene)
  await work(indexer).finally(indexer.close)
}
