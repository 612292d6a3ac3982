import { newKeyedHash } from '../../src/base/line-hashes.ts'
import { hashOfName } from '../../src/server/trace/written-lines.ts'
import { attributionGroup, mainGroup } from '../../projections/index.ts'
import { schemaOf } from '../../src/eventstore/engine/group.ts'
import { indexWritten } from '../../src/tables/attribution.ts'
import { MOST_MS } from '../../src/server/attribution/reads.ts'
import { onServer } from '../support/database.ts'
import { type Named, type Setting, atMost, percentile, timesOf } from './measure.ts'
import type { World } from './world.ts'

/** A session has 100 calls of 20 lines: 500 sessions have a million facts. Every tenth line is one of twenty that all calls write. */
const CALLS = 100
const LINES = 20
const FACTS = 1_000_000
const FILES = 400
/** When the calls were made, a second after each other. */
const START = Date.UTC(2026, 0, 1)

type Owner = { readonly namespaceId: string; readonly userId: string }

const id = (n: string) => `md5('attribution ' || ${n})::uuid`
const hash = (text: string) => `hashtextextended(${text}, 1)`
/** SQL for the hash of line `l` of call `c` of session `s`. */
const line = `case when l % 10 = 7 then ${hash(`'common ' || (s + c + l) % 20`)} else ${hash(`s || ' ' || c || ' ' || l`)} end`
const at = `${START} + (s * ${CALLS} + c)::int8 * 1000`
const file = `(s * 7 + c) % ${FILES}`

/** Writes the rows that such sessions have in the read models; their events would take minutes. */
const fill = ({ databaseUrl }: World, { namespaceId, userId }: Owner, names: readonly bigint[], sessions: number) =>
  onServer(
    databaseUrl,
    `set search_path = ${schemaOf(attributionGroup)}, ${schemaOf(mainGroup)};
    insert into traces (id, namespace_id, external_id, key, created_by, created_at, visibility, agent_id, project_path,
        bytes, updated_at, incarnation, revision, at)
      select ${id('s')}, '${namespaceId}', 'a' || s, ${id('s')}, '${userId}', s, 'private', '"agent"', '"/home/repo"', 0, 0, 0, 0, 0
      from generate_series(1, ${sessions}) s;
    insert into messages (trace_id, incarnation, ordinal, id, external_id, role, timestamp, class, tools, parts_head, part_count,
        parts_length, created_at, updated_at, added, revision, block, heads_at, parts_at, parts_end, facts)
      select ${id('s')}, 0, c, ${id(`s || '/' || c`)}, 'm' || c, 'assistant', ${at}, 'tool_call', '["edit"]', '', 1,
        0, ${at}, ${at}, c, c, c, 0, 0, 0, '0ccall-' || c || ',20,0'
      from generate_series(1, ${sessions}) s, generate_series(1, ${CALLS}) c;
    drop index written_files_lines;
    insert into written_files (trace_id, incarnation, ordinal, nth, file, at, identity, path, written, replaced)
      select ${id('s')}, 0, c, 0, 0, ${at}, ${hash(`'call ' || s || ' ' || c`)}, '"/home/repo/file' || ${file} || '.ts"',
        (select array_agg(${line} order by l) from generate_series(1, ${LINES}) l)
          || ('{${names.join()}}'::int8[])[1 + ${file}], '{}'
      from generate_series(1, ${sessions}) s, generate_series(1, ${CALLS}) c;
    set maintenance_work_mem = '512MB'; ${indexWritten}
    analyze traces; analyze messages; analyze written_files`,
  )

const HUNKS = 50

/** Questions of 1,000 lines in 50 files: for each hunk the lines of a call, soon after it. */
const questionsOf = async ({ databaseUrl }: World, count: number, key: string, sessions: number) => {
  const { rows } = await onServer(
    databaseUrl,
    `select s, c, ${file} as file, (${at})::text as at, array_agg(lpad(to_hex(${line}), 16, '0') order by l) as added
     from (select 1 + (n * 13) % ${sessions} as s, 1 + (n * 31 + n / ${sessions}) % ${CALLS} as c from generate_series(1, ${count * HUNKS}) n) q,
       generate_series(1, ${LINES}) l
     group by s, c`,
  )
  const hunks = rows.map((row) => ({
    path: `file${row['file']}.ts`,
    at: Number(row['at']) + 60_000,
    added: row['added'],
  }))
  return Array.from({ length: Math.floor(hunks.length / HUNKS) }, (_, i) => ({
    key,
    hunks: hunks.slice(i * HUNKS, (i + 1) * HUNKS),
  }))
}

/** How long a question of 1,000 lines takes among a million facts, or as many as are wanted, and the first one of a service. */
export const attributionQuestion = async ({ world, ms, facts = FACTS }: Setting): Promise<readonly Named[]> => {
  const { authorization, slug, ...owner } = await world.signIn('attribution')
  const data = (text: string) => JSON.parse(text).data
  const { key } = data(await world.ask('GET', `/v1/namespaces/${slug}/attribution-key`, authorization))
  const keyedHash = newKeyedHash(Buffer.from(key.secret, 'base64'))
  const names = Array.from({ length: FILES }, (_, i) => hashOfName(keyedHash, `file${i}.ts`))
  const sessions = Math.ceil(facts / (CALLS * LINES))
  await fill(world, owner, names, sessions)
  const questions = await questionsOf(world, 20, key.id, sessions)
  const path = `/v1/namespaces/${slug}/attributions`
  const ask = async (i: number) => {
    const { lines } = data(await world.ask('POST', path, authorization, questions[i % questions.length]))
    if (!(lines.run > 0.98 * HUNKS * LINES)) throw new Error(`attributions: ${JSON.stringify(lines)}`)
  }
  const first = await timesOf(0, ask, questions.length) // code is compiled, and pages of the database are read by then
  const times = await timesOf(ms, ask, questions.length)
  const [p50, p95] = facts > FACTS ? [200, 300] : [100, 150]
  return [
    atMost('attribution-question of 1,000 lines, p50', 'ms', percentile(times, 0.5), p50),
    atMost('attribution-question of 1,000 lines, p95', 'ms', percentile(times, 0.95), p95),
    atMost('attribution-question: the first of a service', 'ms', first[0]!, MOST_MS),
  ]
}
