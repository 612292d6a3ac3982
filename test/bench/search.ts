import { mainGroup, searchGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { onServer } from '../support/database.ts'
import { ingest } from './ingest.ts'
import { atMost, percentile } from './measure.ts'
import { caughtUp, lagBeside } from './timeline-lag.ts'
import type { World } from './world.ts'

type Setting = { readonly world: World; readonly ms: number }

const sizeStatement = `
  select (select sum(pg_total_relation_size(i.inhrelid)) from pg_inherits i where i.inhparent = '${schemaOf(searchGroup)}.search_docs'::regclass)
    / (select sum(octet_length(b.body)) from ${schemaOf(mainGroup)}.message_blocks b)::float8 as size`

/** What the index costs: messages a second in batches with it and without it, and its bytes for each byte of messages. */
export const searchIndex = async (setting: Setting) => {
  const rows = await lagBeside('search-index', searchGroup, setting)
  await caughtUp(setting.world, searchGroup)
  const { size } = (await onServer(setting.world.databaseUrl, sizeStatement)).rows[0] as { size: number }
  return [...rows, atMost('search-index size', 'bytes for each byte', size, 0.7)]
}

const queries = [
  'const',
  'file path',
  '"await file"',
  'return -nothing',
  'tool:bash in:call',
  'toolu_12',
  'nothingthere',
  'model:claude-opus-4-5-20251101',
]

/** How long searches take, in milliseconds, of so many clients at once. */
const timesOf = async ({ world, ms }: Setting, clients: number, authorization: string): Promise<number[]> => {
  const [until, times]: [number, number[]] = [performance.now() + ms, []]
  const client = async (nth: number) => {
    for (let i = nth; performance.now() < until; i++) {
      const started = performance.now()
      const q = encodeURIComponent(queries[i % queries.length]!)
      const { status, text } = await world.call('GET', `/v1/search?q=${q}`, authorization)
      if (status !== 200) throw new Error(`search: ${status} ${text}`)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => client(i)))
  return times
}

/** Searches of one client, of four at once, and of one while messages come in batches. */
export const searchQuery = async (setting: Setting) => {
  const { authorization } = await setting.world.signIn('batch-ingest') // who has written them
  await ingest(setting.world, 2 * setting.ms)
  await caughtUp(setting.world, searchGroup)
  const cold = await timesOf({ ...setting, ms: 1 }, 1, authorization)
  const one = await timesOf(setting, 1, authorization)
  const four = await timesOf(setting, 4, authorization)
  const [busy] = await Promise.all([timesOf(setting, 1, authorization), ingest(setting.world, setting.ms)])
  return [
    atMost('search-query cold', 'ms', cold[0]!, 1_000),
    atMost('search-query p50', 'ms', percentile(one, 0.5), 40),
    atMost('search-query p95', 'ms', percentile(one, 0.95), 150),
    atMost('search-query four p50', 'ms', percentile(four, 0.5), 75),
    atMost('search-query four p95', 'ms', percentile(four, 0.95), 300),
    atMost('search-query busy p95', 'ms', percentile(busy, 0.95), 500),
  ]
}
