import { gzipSync } from 'node:zlib'
import { mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { DAY_QUARTERS, QUARTER_MS, eachSum } from '../../src/tables/usage.ts'
import { dayIn, dayOf, ofTrace } from '../../src/tables/usage-days.ts'
import { onServer } from '../support/database.ts'
import { type Named, type Setting, atMost, percentile, timesOf } from './measure.ts'
import type { World } from './world.ts'

/** A year of 1 million messages: sessions of three quarters of an hour, each with 34 messages, half of which have used something. */
const SESSIONS = 10_000
const YEAR = 365 * 96

const DAY = ['first', 'last', 'messages', 'used', 'quarters', 'tools']

type Owner = { readonly namespaceId: string; readonly userId: string }

/**
 * Writes the rows that such a year has in the read models, which the requests read; its million events would take minutes. Every tenth session repeats ten
 * answers of another one of the same agent, and every fifteenth call of a tool has failed.
 */
const fill = async ({ databaseUrl }: World, { namespaceId, userId }: Owner): Promise<void> => {
  const first = Math.floor(Date.now() / QUARTER_MS) - YEAR
  const id = (n: string) => `md5('usage ' || ${n})::uuid`
  const sums = eachSum((name) => name)
  await onServer(
    databaseUrl,
    `set search_path = ${schemaOf(mainGroup)};
    insert into traces (id, namespace_id, external_id, key, created_by, created_at, visibility, agent_id, project_name, model,
        bytes, updated_at, incarnation, revision, at)
      select ${id('i')}, '${namespaceId}', 'u' || i, ${id('i')}, '${userId}', i, 'private', to_json('agent-' || i % 4),
        to_json('project-' || i % 30), to_json('model-' || i % 6), 0, 0, 0, 0, 0
      from generate_series(1, ${SESSIONS}) i;
    insert into usage (trace_id, namespace_id, slot, messages, model, prices, kinds, ${sums})
      select ${id('i')}, '${namespaceId}', ${first} + (i * ${YEAR} / ${SESSIONS}) + quarter, 17,
        case when used then '"model-' || i % 6 || '"' else '' end, case when used then i / 30 else 0 end, case when used then 15 else 0 end,
        used::int4 * 1000, used::int4 * 500, used::int4 * 100000, used::int4 * 3000, 0, 0
      from generate_series(1, ${SESSIONS}) i, generate_series(0, 2) quarter, (values (true), (false)) k (used);
    insert into usage_tools (trace_id, namespace_id, slot, tool, messages)
      select ${id('i')}, '${namespaceId}', ${first} + (i * ${YEAR} / ${SESSIONS}) + quarter, to_json('tool-' || tool), 3
      from generate_series(1, ${SESSIONS}) i, generate_series(0, 2) quarter, generate_series(1, 5) tool;
    insert into copied_answers (namespace_id, answer, trace_id, created_at, elsewhere, slot, ordinal, tools, model, prices, kinds, ${sums})
      select '${namespaceId}', i * 10 + nth, ${id('n')}, n, copy > 0, ${first} + (n * ${YEAR} / ${SESSIONS}), nth, '["tool-1"]',
        '"model-' || n % 6 || '"', n / 30, 15, 10, 5, 1000, 30, 0, 0
      from generate_series(10, ${SESSIONS - 4}, 10) i, generate_series(0, 9) nth, (values (0), (4)) c (copy), lateral (select i + copy as n) copied;
    insert into failed_calls (trace_id, namespace_id, slot, ordinal, nth, tool)
      select ${id('i')}, '${namespaceId}', ${first} + (i * ${YEAR} / ${SESSIONS}), nth, 0, to_json('tool-' || nth % 5 + 1)
      from generate_series(1, ${SESSIONS}) i, generate_series(0, 2) nth;
    analyze traces; analyze usage; analyze usage_tools; analyze copied_answers; analyze failed_calls;
    insert into usage_days (trace_id, namespace_id, day, stale, ${Object.keys(ofTrace)}, ${DAY})
      select u.trace_id, t.namespace_id, u.day, false, ${Object.values(ofTrace)}, ${DAY.map((name) => `d.${name}`)}
      from (select distinct trace_id, ${dayOf('slot')} as day from usage where namespace_id = '${namespaceId}') u
      join traces t on t.id = u.trace_id
      ${dayIn('u.trace_id', `u.day * ${DAY_QUARTERS}`, `(u.day + 1) * ${DAY_QUARTERS}`)}
      order by d.first;
    analyze usage_days`,
  )
}

const WAYS = ['day', 'agent', 'model', 'project', 'tool', 'day,model']

/** How often each is asked before it counts: until then its code is compiled. */
const COLD = 3
/** The 95th percentile of fewer would be the time of one or two garbage collections. */
const LEAST_TIMES = 100

/** How long one client waits for each of these, in turns, in milliseconds. */
const pathTimes = async ({ world, ms }: Setting, paths: readonly string[], authorization: string) => {
  const ask = (i: number) => world.ask('GET', paths[i % paths.length]!, authorization)
  const cold = COLD * paths.length
  return (await timesOf(ms, ask, cold + LEAST_TIMES)).slice(cold)
}

/** What a namespace has used and cost in a year of a million messages, and the page of insights into it. */
export const usage = async (setting: Setting): Promise<readonly Named[]> => {
  const { world } = setting
  const owner = await world.signIn('usage')
  await fill(world, owner)
  const { authorization, slug } = owner
  const from = Date.now() - 365 * 86_400_000
  const paths = WAYS.map((by) => `/v1/namespaces/${slug}/usage?by=${by}&from=${from}`)
  const page = `/@${slug}/-/insights?days=365`
  const times = await pathTimes(setting, paths, authorization)
  const pages = await pathTimes(setting, [page], authorization)
  const text = await world.ask('GET', page, authorization)
  return [
    atMost('usage of a year, p95', 'ms', percentile(times, 0.95), 100),
    atMost('insights into a year, p95', 'ms', percentile(pages, 0.95), 200),
    atMost('insights into a year', 'kB gz', gzipSync(text).length / 1_000, 60),
  ]
}
