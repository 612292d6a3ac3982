import { mainGroup, searchGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { columnsOfParts, partsText } from '../../src/server/trace/messages/stored-parts.ts'
import { onServer, withConnection } from '../support/database.ts'
import { until } from '../support/until.ts'
import { ingest } from './ingest.ts'
import { type Setting, atMost, percentile, timesOf } from './measure.ts'
import { wordAt, wordyMessages } from './search-corpus.ts'
import { caughtUp, lagBeside, lagsDuring } from './timeline-lag.ts'
import type { World } from './world.ts'

type Options = Pick<Setting, 'world' | 'ms' | 'messages'>

/** Sessions of 600 messages. */
const sessions = { make: wordyMessages, batches: 3 } as const

/** Waits until everything can be found. */
export const allIndexed = async (world: World) => {
  await caughtUp(world, searchGroup)
  const waiting = `select from ${schemaOf(searchGroup)}.search_backlog limit 1`
  await until(async () => (await onServer(world.databaseUrl, waiting)).rowCount === 0)
}

const sizeStatement = `
  select (select sum(pg_total_relation_size(i.inhrelid)) from pg_inherits i where i.inhparent = '${schemaOf(searchGroup)}.search_docs'::regclass)
    / (select sum(octet_length(b.body)) from ${schemaOf(mainGroup)}.message_blocks b)::float8 as size`

const textsOf = (make: typeof wordyMessages) => make(200).map((message) => JSON.stringify(message))

/** Rows a second into a table with an index of words of PostgreSQL's own, 200 a transaction. */
const bareWords = (world: World, ms: number): Promise<number> =>
  withConnection(world.databaseUrl, async (client) => {
    await client.query(`set enable_seqscan = on; drop table if exists public.bare_words;
      create table public.bare_words (words tsvector); create index on public.bare_words using gin (words)`)
    const texts = Array.from({ length: 20 }, (_, i) => textsOf((count) => wordyMessages(count, i * 200)))
    const started = performance.now()
    let count = 0
    while (performance.now() - started < ms) {
      const some = texts[(count / 200) % texts.length]
      await client.query("insert into public.bare_words select to_tsvector('simple', t) from unnest($1::text[]) t", [
        some,
      ])
      count += 200
    }
    const seconds = (performance.now() - started) / 1_000
    await client.query('drop table public.bare_words')
    return count / seconds
  })

/** Rows a second that the index takes after it was held back. */
const catchingUp = async ({ world, ms }: Options): Promise<number> => {
  await ingest(world, ms, sessions)
  const rows = async () =>
    Number(
      (await onServer(world.databaseUrl, `select count(*) from ${schemaOf(searchGroup)}.search_docs`)).rows[0]!.count,
    )
  const [started, before] = [performance.now(), await rows()]
  await allIndexed(world)
  return ((await rows()) - before) / ((performance.now() - started) / 1_000)
}

const PACE = 2_000

/** What the index costs: messages a second in batches with it and without it, how late it is, and its bytes for each byte of messages. */
export const searchIndex = async (setting: Options) => {
  const { world, ms } = setting
  const [beside] = await lagBeside('search-index', searchGroup, setting, sessions)
  await allIndexed(world)
  const { most } = await lagsDuring(world, searchGroup, ingest(world, ms, { ...sessions, most: PACE }))
  await allIndexed(world)
  const { size } = (await onServer(world.databaseUrl, sizeStatement)).rows[0] as { size: number }
  return [
    beside!,
    {
      name: 'search-index rows',
      unit: 'rows/s',
      value: await catchingUp(setting),
      yardstick: await bareWords(world, ms),
    },
    atMost(`search-index lag at ${PACE}/s`, 'ms', most.group, 2_000),
    atMost('search-index size', 'bytes for each byte', size, 0.7),
  ]
}

const queries = [
  wordAt(2),
  `${wordAt(5)} ${wordAt(20)}`,
  `"${wordAt(1)} ${wordAt(2)}"`,
  `${wordAt(4)} -${wordAt(12_000)}`,
  `tool:bash in:call ${wordAt(8)}`,
  wordAt(30_000),
  wordAt(7_000),
  'nothingthere',
  `model:claude-opus-4-5-20251101 ${wordAt(300)}`,
  `has:error ${wordAt(10)}`,
]

/** How long searches take, in milliseconds, of so many clients at once. */
const searchTimes = async ({ world, ms }: Options, clients: number, authorization: string): Promise<number[]> => {
  const search = (i: number) =>
    world.ask('GET', `/v1/search?q=${encodeURIComponent(queries[i % queries.length]!)}`, authorization)
  const times = await Promise.all(Array.from({ length: clients }, (_, nth) => timesOf(ms, (i) => search(nth + i))))
  return times.flat()
}

/** How long the same words take in an index of PostgreSQL's own over the same messages: the newest 200, without rights and texts. */
const bareTimes = ({ world, ms }: Options): Promise<number[]> =>
  withConnection(world.databaseUrl, async (client) => {
    await client.query(`
      set search_path = ${schemaOf(mainGroup)}; set maintenance_work_mem = '256MB';
      create table public.bare_words as
        select row_number() over () as nth, to_tsvector('simple', coalesce(text_content, '') || coalesce(parts, '')) as words
        from (select m.text_content, m.ordinal, ${columnsOfParts}, ${partsText} as parts from messages m) m;
      create index on public.bare_words using gin (words); create index on public.bare_words (nth); analyze public.bare_words`)
    const text =
      "select nth from public.bare_words where words @@ plainto_tsquery('simple', $1) order by nth desc limit 200"
    const times = await timesOf(ms, (i) =>
      client.query(text, [queries[i % queries.length]!.replaceAll(/\w+:\S+|-\S+/gu, '')]),
    )
    await client.query('drop table public.bare_words')
    return times
  })

/** Fills until there are so many messages, or for some time. */
const fill = async (setting: Options) => {
  const { world, ms, messages } = setting
  if (messages === undefined) return void (await ingest(world, 2 * ms, sessions))
  for (let left = messages; left > 0;) left -= (await ingest(world, ms, sessions)) * (ms / 1_000)
}

/** Searches of one client, of four at once, and of one while messages come in batches. */
export const searchQuery = async (setting: Options) => {
  const { authorization } = await setting.world.signIn('batch-ingest') // who has written them
  await fill(setting)
  await allIndexed(setting.world)
  const bare = await bareTimes(setting)
  const [cold] = await searchTimes({ ...setting, ms: 1 }, 1, authorization)
  const one = await searchTimes(setting, 1, authorization)
  const four = await searchTimes(setting, 4, authorization)
  const [busy] = await Promise.all([
    searchTimes(setting, 1, authorization),
    ingest(setting.world, setting.ms, sessions),
  ])
  return [
    atMost('search-query cold', 'ms', cold!, 1_000),
    atMost('search-query p50', 'ms', percentile(one, 0.5), 40),
    atMost('search-query p95', 'ms', percentile(one, 0.95), 150),
    atMost('search-query four p50', 'ms', percentile(four, 0.5), 75),
    atMost('search-query four p95', 'ms', percentile(four, 0.95), 300),
    atMost('search-query busy p95', 'ms', percentile(busy, 0.95), 500),
    { name: 'search-query bare p50', unit: 'ms', value: percentile(bare, 0.5), yardstick: percentile(one, 0.5) },
    { name: 'search-query bare p95', unit: 'ms', value: percentile(bare, 0.95), yardstick: percentile(one, 0.95) },
  ]
}
