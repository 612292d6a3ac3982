import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { wholeAppends } from '../../src/eventstore/log/whole-appends.ts'
import { openPostgresLog } from '../../src/eventstore/log/postgres/postgres-log.ts'
import { generateSigner } from '../../src/server/proof/note.ts'
import { startTreeProcess } from '../../src/server/proof/process.ts'
import { onServer } from '../support/database.ts'
import { outage, silent } from '../support/silent.ts'
import { messages } from './corpus.ts'
import { type Named, type Setting, withDatabase } from './measure.ts'

const EVENTS = Number(process.env.AUDIT_EVENTS ?? 1_000_000)
const APPEND = 200
const POLL_MS = 50

const main = new URL('../../src/main.ts', import.meta.url).pathname

const fillStatement = `
  insert into log.appends (last, stream, revision, size, ids, heads, lengths, body)
  select k * ${APPEND} + ${APPEND - 1}, 'trace-' || md5(k::text)::uuid, ${APPEND - 1}, ${APPEND}, e.ids,
    json_build_array(json_build_array(${APPEND}, 'MessageAdded', format(
      '{"at":%s,"actor":{"userId":"%s","sessionId":"%s"},"requestId":"%s","schema":1,"append":{"id":"%s","index":',
      1770000000000 + k, md5('u')::uuid, md5('s')::uuid, md5(k::text)::uuid, md5(k::text)::uuid
    ), 0, ',"size":${APPEND}}}')), e.lengths, e.data
  from generate_series($2::int8, $3::int8) k cross join lateral (
    select array_agg(gen_random_uuid()) as ids, array_agg(octet_length(b.data::text)) as lengths,
      convert_to(string_agg(b.data::text, ''), 'UTF8') as data
    from generate_series(k * ${APPEND}, k * ${APPEND} + ${APPEND - 1}) n
    join unnest($1::json[]) with ordinality b(data, number) on b.number = n % cardinality($1::json[]) + 1
  ) e`

/** Events as the service writes them, in appends of 200, by SQL: appending a million takes minutes. Positions begin at 200. */
const fill = async (url: string) => {
  const bodies = messages(2_000).map((message) =>
    JSON.stringify({ ...message, ordinal: 0, class: 'agent_text', tools: [], digest: 'x'.repeat(22) }),
  )
  const end = EVENTS / APPEND
  for (let from = 1; from <= end; from += 250)
    await onServer(url, fillStatement, [bodies, from, Math.min(from + 249, end)])
  await onServer(url, 'vacuum analyze log.appends')
}

/** Events a second that get their leaves. */
const coverLog = async (url: string): Promise<number> => {
  await fill(url)
  const log = wholeAppends(openPostgresLog({ url }))
  const signer = generateSigner('bench/log')
  const started = performance.now()
  const proof = startTreeProcess({ url, log, signer, now: Date.now, logger: silent, outage })
  while (proof.leaves() < EVENTS) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  const seconds = (performance.now() - started) / 1_000
  const isSigned = 'select from tracebook.audit_keys where size = $1'
  while ((await onServer(url, isSigned, [EVENTS])).rows.length === 0)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  await proof.close()
  await log.close()
  return EVENTS / seconds
}

/** Rows a second of a plain COPY of the events. */
const copyLog = async (url: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const started = performance.now()
  for await (const _ of client.query(copyTo('copy log.appends to stdout')));
  const seconds = (performance.now() - started) / 1_000
  await client.end()
  return EVENTS / seconds
}

const peakMb = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
  } catch {
    return 0 // it has ended
  }
}

/** Events a second that `tracebook audit verify` checks, with its start, and the most memory that it took, in megabytes. */
const verify = async (url: string): Promise<{ rate: number; memory: number }> => {
  const config = await mkdtemp(join(tmpdir(), 'tracebook-bench-'))
  const started = performance.now()
  const env = { ...process.env, DATABASE_URL: url, EVENTSTORE_URL: '', TRACEBOOK_CONFIG_DIR: config }
  const child = spawn(process.execPath, [main, 'audit', 'verify'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let memory = 0
  const watch = setInterval(() => (memory = Math.max(memory, peakMb(child.pid!))), POLL_MS)
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  clearInterval(watch)
  await rm(config, { recursive: true })
  if (code !== 0) throw new Error(`verify: ${code} ${out}`)
  return { rate: EVENTS / ((performance.now() - started) / 1_000), memory }
}

const WANTED_LEAVES = 10_000
const MEMORY_MB = 400

/** A check of a whole log, beside a COPY of it; how fast leaves are written, and how much memory the check takes. */
export const auditVerify = ({ world }: Setting) =>
  withDatabase(world.databaseUrl, async (url): Promise<readonly Named[]> => {
    const leaves = await coverLog(url)
    await copyLog(url)
    const before = await copyLog(url)
    const { rate, memory } = await verify(url)
    const yardstick = (before + (await copyLog(url))) / 2
    return [
      { name: 'audit-verify', unit: 'events/s', value: rate, yardstick },
      { name: 'audit-verify memory', unit: 'MB', value: memory, yardstick: MEMORY_MB },
      { name: 'audit-leaves', unit: 'events/s', value: leaves, yardstick: WANTED_LEAVES },
    ]
  })
