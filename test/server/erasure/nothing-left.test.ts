import { randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type pg from 'pg'
import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newClient } from '../../../src/eventstore/postgres/connect.ts'
import { startPostgres } from '../../../src/eventstore/embedded/postgres.ts'
import { giveCluster } from '../../support/cluster.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { inFolder } from '../../eventstore/embedded/support.ts'
import { type App, openApp } from '../../support/open-app.ts'
import { until } from '../../support/until.ts'
import { run } from '../../commands/support/user.ts'

const test = suite('erasure: no byte of content is left')

/** All content has it, in the same letters whatever is done to names of tools. */
const CORE = `q${randomBytes(6).toString('hex').replace(/\d/g, 'x')}z`

/** A text of a place of its own, short enough to be stored as it is. */
const marked = (place: string) => `${CORE} ä ${place}`

/** The text as the tables and files may hold it. */
const needles = ((): readonly Buffer[] => {
  const utf8 = Buffer.from(CORE)
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), utf8]).toString('base64')
    return text.slice(Math.ceil((shift * 4) / 3), -4) // less what its neighbours decide
  })
  return [CORE, utf8.toString('hex'), ...base64].map((text) => Buffer.from(text)).concat(Buffer.from(CORE, 'utf16le'))
})()

const holds = (bytes: Buffer | string): boolean => {
  const text = Buffer.from(bytes)
  return needles.some((needle) => text.includes(needle))
}

const relations = `
  select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'm') and c.relpersistence <> 't'
    and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
  union all select 'pg_catalog.pg_stats' order by 1`

/** The tables of all schemas that have a row with the text; the planner's statistics, too, which hold values. */
const tablesWithIt = async (client: pg.Client): Promise<string[]> => {
  const found: string[] = []
  await client.query('set bytea_output = escape') // shows the texts that are stored as bytes
  for (const { name } of (await client.query<{ name: string }>(relations)).rows) {
    const { rows } = await client.query<{ rows: string | null }>(
      `select string_agg(t::text, e'\\n') as rows from ${name} t`,
    )
    if (holds(rows[0]!.rows ?? '')) found.push(name)
  }
  return found
}

/** Rows of the log in which the text could not be found: all have some. */
const compressedRows = async (client: pg.Client): Promise<number> =>
  (await client.query('select from log.appends where bytes is not null')).rows.length

/** The files of a server that is stopped that have the text; not its WAL, which is used again at some time. */
const filesIn = async (cluster: string): Promise<string[]> => {
  const names = await readdir(cluster, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found: string[] = []
  for (const file of files) if (!file.includes(`${sep}pg_wal${sep}`) && holds(await readFile(file))) found.push(file)
  return found
}

type Session = { token: string; namespaceSlug: string }

const fields = Object.fromEntries(
  ['agentId', 'title', 'projectPath', 'projectName', 'model', 'gitRemoteUrl', 'gitBranch', 'gitRef'].map((name) => [
    name,
    marked(name),
  ]),
)
const call = { callId: marked('call'), toolName: `${CORE} tool` }
const parts = [
  { type: 'text', content: { text: marked('text') } },
  { type: 'thinking', content: { text: marked('thinking') } },
  { type: 'tool_call', content: { ...call, args: { [marked('key')]: [{ file: `/src/${CORE}.ts` }] } } },
  { type: 'tool_result', content: { ...call, output: marked('output'), status: 'success' } },
  { type: 'error', content: { message: marked('error') } },
]

/** Traces that hold the text wherever a client can put it, changed and summarised. */
const write = async ({ call: ask }: App, { token }: Session, trace: string) => {
  const put = async (path: string, body: object) =>
    assert.is((await ask('PUT', `/v1/traces/${path}`, { token, body })).status, 200)
  await put(trace, fields)
  await put(trace, { ...fields, title: marked('another title'), visibility: 'public' })
  const messages = ['user', 'assistant', 'system'].map((role) => ({
    ...{ externalId: marked(role), role, textContent: marked(`said ${role}`), model: marked('model') },
    parts: role === 'assistant' ? parts : parts.slice(0, 1),
  }))
  assert.is((await ask('POST', `/v1/traces/${trace}/messages/batch`, { token, body: { messages } })).status, 200)
  const changed = { role: 'user', textContent: marked('changed'), parts: parts.slice(1, 2) }
  await put(`${trace}/messages/${encodeURIComponent(marked('user'))}`, changed)
  await put(`${trace}/messages/long`, { role: 'user', textContent: marked('long').repeat(1_000) })
}

const isSummarised = async ({ call: ask }: App, { token }: Session, trace: string) =>
  'ai_summary' in ((await ask('GET', `/v1/traces/${trace}`, { token })).data as { trace: object }).trace

/** A service on a PostgreSQL of its own; between two calls of `restart` its files can be read. */
type Scene = {
  readonly double: Double | undefined
  readonly app: () => App
  readonly logged: () => string
  readonly url: () => string
  readonly withClient: <T>(work: (client: pg.Client) => Promise<T>) => Promise<T>
  /** Stops the service and PostgreSQL, runs `look` over its files, and starts both again. */
  readonly restart: (look: (cluster: string) => Promise<unknown>) => Promise<void>
}

const silent = { info: () => {}, warn: () => {}, error: () => {} }

const open = async (dataDir: string, double: Double | undefined): Promise<Scene & { end(): Promise<void> }> => {
  let lines = ''
  const logger = pino({ level: 'trace' }, { write: (line: string) => void (lines += line) })
  const env = { EVENTSTORE_URL: double?.url ?? '', SUMMARY_DEBOUNCE_MS: '20', SUMMARY_THRESHOLD: '1' }
  const start = async () => {
    const postgres = await startPostgres({ dataDir, log: silent })
    return { postgres, app: await openApp(postgres.url, { env, logger }) }
  }
  await giveCluster(dataDir)
  let running = await start()
  const stop = async () => {
    await running.app.close()
    await running.postgres.stop('fast')
  }
  const url = () => running.postgres.url
  const withClient: Scene['withClient'] = async (work) => {
    const client = newClient(url(), 'test')
    await client.connect()
    return work(client).finally(() => client.end())
  }
  const restart: Scene['restart'] = async (look) => {
    await stop()
    await look(join(dataDir, 'postgres'))
    running = await start()
  }
  return { double, app: () => running.app, logged: () => lines, url, withClient, restart, end: stop }
}

const inDouble = (double: Double): string[] =>
  double.store
    .all()
    .filter(({ data, metadata }) => holds(Buffer.from(data)) || holds(Buffer.from(metadata)))
    .map(({ stream, type }) => `${stream} ${type}`)

const onBoth = (name: string, work: (scene: Scene) => Promise<void>) => {
  for (const isEventStore of [false, true])
    test(`${name}, with the log in ${isEventStore ? 'EventStoreDB' : 'Postgres'}`, () =>
      inFolder(async (folder) => {
        const double = isEventStore ? await startDouble() : undefined
        try {
          const scene = await open(folder, double)
          await work(scene).finally(scene.end)
        } finally {
          await double?.stop()
        }
      }))
}

/** What the test finds before the deletion; otherwise it would prove nothing. */
const assertFound = async ({ double, withClient, restart }: Scene) => {
  const tables = await withClient(async (client) => {
    assert.is((await compressedRows(client)) > 0, !double)
    await client.query('analyze')
    return tablesWithIt(client)
  })
  for (const table of ['traces', 'messages', 'message_blocks', 'message_parts', 'counts'])
    assert.ok(tables.some((name) => name.endsWith(`.${table}`)), `${table} is not in ${tables.join()}`) // prettier-ignore
  assert.is(tables.includes('log.appends'), !double)
  assert.equal(
    tables.filter((name) => name.includes('search')),
    [],
  ) // it has hashes of words only
  if (double) assert.ok(inDouble(double).length > 5)
  await restart(async (cluster) => assert.ok((await filesIn(cluster)).length > 3, 'nothing is found in files'))
}

onBoth('neither in a table of any schema, nor in logs, exports, or, once rewritten, in files', async (scene) => {
  const { double, app, logged, url, withClient, restart } = scene
  const { data } = await app().call('POST', '/v1/session', { body: { deviceId: 'device' } })
  const { session } = data as { session: Session }
  await write(app(), session, 'done')
  await until(() => isSummarised(app(), session, 'done'))
  await assertFound(scene)
  await write(app(), session, 'due') // a job of it may still have to run

  const { token } = session
  for (const trace of ['done', 'due'])
    assert.is((await app().call('DELETE', `/v1/traces/${trace}`, { token })).status, 200)
  const exported = () => run(['audit', 'export'], { DATABASE_URL: url(), EVENTSTORE_URL: double?.url ?? '' })
  assert.is(holds((await exported()).out), false, 'an export right after the deletion')
  await withClient(async (client) => {
    await until(async () => (await client.query('select from tracebook.erasures')).rows.length === 0)
    await until(async () => (await client.query('select from tracebook.summaries')).rows.length === 0)
    assert.equal(await tablesWithIt(client), [])
    assert.is(await compressedRows(client), 0)
  })
  assert.is(holds(logged()), false, "a line of the service's log")
  const { how, out } = await exported()
  assert.equal([how, holds(out), out.includes('TraceDeleted')], [0, false, true])
  for (const path of ['/v1/feed', '/v1/traces', `/v1/namespaces/${session.namespaceSlug}/traces`])
    assert.is(holds(JSON.stringify(await app().call('GET', path, { token }))), false, path)

  await withClient((client) => client.query('vacuum full'))
  await restart(async (cluster) => assert.equal(await filesIn(cluster), []))
  if (!double) return
  assert.is((await run(['log', 'scavenge'], { EVENTSTORE_URL: double.url })).how, 0)
  assert.equal(inDouble(double), [])
})

test.run()
