import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { groups, mainGroup } from '../projections/index.ts'
import { schemaOf } from '../src/eventstore/engine/group.ts'
import { locks } from '../src/eventstore/engine/schema.ts'
import { type PoolSizes, minConnections, poolSizes } from '../src/eventstore/postgres/pool-sizes.ts'
import type { App } from './support/open-app.ts'
import { WITH_WORKER, newEmptyWorld, signIn } from './support/world.ts'

const test = suite('connections of a whole service')

const open = `
  select application_name as name, count(*)::int as number from pg_stat_activity
  where datname = current_database() and application_name like 'tracebook %' group by 1`

/** Counts connections by name, again and again, on one of its own; `most` is what was seen at once. */
const startCounting = async (url: string) => {
  const client = new pg.Client({ connectionString: url, application_name: 'counting' })
  await client.connect()
  const most = new Map<string, number>()
  let [total, counting] = [0, true]
  const run = async () => {
    while (counting) {
      const { rows } = await client.query<{ name: string; number: number }>(open)
      for (const { name, number } of rows) most.set(name, Math.max(number, most.get(name) ?? 0))
      total = Math.max(
        total,
        rows.reduce((sum, { number }) => sum + number, 0),
      )
      await setTimeout(2)
    }
  }
  const running = run()
  const stop = async () => {
    counting = false
    await running
    await client.end()
  }
  return { most: (pool: string) => most.get(`tracebook ${pool}`) ?? 0, total: () => total, client, stop }
}

const many = <T>(ask: (i: number) => Promise<T>) => Promise.allSettled(Array.from({ length: 40 }, (_, i) => ask(i)))

/** What needs the connections of each pool, more of it at once than any has. */
const loads: Record<keyof PoolSizes, (app: App, token: string) => Promise<unknown>> = {
  reads: ({ service }) => many(() => service.reads.pool.query('select pg_sleep(0.05)')),
  log: ({ service }) => many((i) => Array.fromAsync(service.log.read(`thing-${i}`))),
  operations: ({ service }) => many(() => service.avatars.get('00000000-0000-0000-0000-000000000000', 'none')),
  // Every message asks for a summary.
  jobs: ({ call }, token) =>
    many((i) => call('PUT', `/v1/traces/t${i}/messages/m${Math.random()}`, { token, body: { role: 'user' } })),
  limits: ({ service }) => many((i) => service.limits!.perAddress['invite-look-up'].take(`${i} ${Math.random()}`)),
  timeline: ({ service }) => many(() => service.timeline.rows('sleep', 'select pg_sleep(0.05)', [])),
  search: ({ service }) => many(() => service.searches.snapshot((rows) => rows('', 'select pg_sleep(0.05)'))),
  attribution: ({ service }) => many(() => service.attributions.snapshot((rows) => rows('', 'select pg_sleep(0.05)'))),
}

const load = (app: App, token: string) =>
  Promise.all([
    many((i) => app.call('PUT', `/v1/traces/t${i}`, { token, body: {} })),
    ...Object.values(loads).map((start) => start(app, token)),
  ])

for (const connections of [minConnections(groups.length), 31]) {
  test(`are never more than ${connections} with DATABASE_CONNECTIONS=${connections}, whatever it does`, async () => {
    const env = {
      ...WITH_WORKER,
      DATABASE_CONNECTIONS: `${connections}`,
      RATE_LIMITS: 'on',
      SUMMARY_DEBOUNCE_MS: '0',
      SUMMARY_THRESHOLD: '1',
      SUMMARY_CONCURRENCY: '16',
    }
    const { database, openNode, close } = await newEmptyWorld({ env })
    const counted = await startCounting(database.url)
    try {
      const app = await openNode()
      const { token } = await signIn(app)
      const isFull = () =>
        Object.entries(poolSizes(connections, groups.length)).every(([pool, size]) => counted.most(pool) >= size)
      while (!isFull()) await load(app, token)
      for (let i = 0; i < 40; i++) await app.call('DELETE', `/v1/traces/t${i}`, { token })

      // Projections that take long are looked after on another connection.
      await counted.client.query('select pg_advisory_lock(hashtext($1))', [locks.swap(schemaOf(mainGroup))])
      const stuck = app.call('PUT', '/v1/traces/stuck', { token, body: {} })
      while (counted.most('lost answers') === 0) await app.unrepeated(() => load(app, token))
      await counted.client.query('select pg_advisory_unlock_all()')
      await stuck
      assert.ok(counted.total() <= connections, `${counted.total()} connections`)
    } finally {
      await counted.stop()
      await close()
    }
  })
}

test.run()
