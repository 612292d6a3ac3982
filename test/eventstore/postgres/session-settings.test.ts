import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  newApplyingClient,
  newClient,
  newLeaderClient,
  newPool,
  withConnection,
} from '../../../src/eventstore/postgres/connect.ts'
import { newJobPool } from '../../../src/server/summary/job-runner.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'

const test = suite<{ database: Database }>('what the service relies on in a database session')

test.before(async (scene) => {
  scene.database = await freshDatabase()
})
test.after(({ database }) => database.drop())

/** What the owner of a database may set for all of its sessions, as an operator does, or a script for another application. */
const UNSUITABLE = {
  jit: 'on',
  enable_seqscan: 'on',
  max_parallel_workers_per_gather: '2',
  work_mem: '64kB',
  default_transaction_isolation: 'serializable',
  extra_float_digits: '0',
  datestyle: 'German',
  timezone: 'Asia/Kolkata',
  lock_timeout: '1ms',
  statement_timeout: '2ms',
  idle_session_timeout: '3ms',
}

const EXPECTED = {
  jit: 'off',
  enable_seqscan: 'off',
  max_parallel_workers_per_gather: '0',
  work_mem: '8MB',
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  datestyle: 'ISO, MDY',
  timezone: 'UTC',
  lock_timeout: '0',
  statement_timeout: '0',
  idle_session_timeout: '0',
}

const settingsOf = async (session: Pick<pg.ClientBase, 'query'>) => {
  const text = 'select json_object_agg(name, current_setting(name))::text as found from unnest($1::text[]) name'
  const { rows } = await session.query<{ found: string }>(text, [Object.keys(EXPECTED)])
  return JSON.parse(rows[0]!.found) as Record<string, string>
}

/** Looks at what a session has. */
type Look<T> = (session: Pick<pg.ClientBase, 'query'>) => Promise<T>

const ofClient = <T>(client: pg.Client, look: Look<T>) => withConnection(client, look)
const ofPool = <T>(pool: pg.Pool, look: Look<T>) => look(pool).finally(() => pool.end())

/** Every way to a session, with its limit for a statement. */
const ways: readonly [string, <T>(url: string, look: Look<T>) => Promise<T>, string][] = [
  ['a single connection', (url, look) => ofClient(newClient(url, 'test'), look), '0'],
  ['one with a limit', (url, look) => ofClient(newClient(url, 'test', 4_000), look), '4s'],
  ['that of a leader', (url, look) => ofClient(newLeaderClient(url, 'test', 3_000), look), '3s'],
  ['one that applies events', (url, look) => ofClient(newApplyingClient(url, 'public'), look), '0'],
  ['a pool', (url, look) => ofPool(newPool({ url, name: 'test', max: 1 }), look), '30s'],
  [
    'a pool for read models',
    (url, look) => ofPool(newPool({ url, name: 'test', max: 1, schema: 'public' }), look),
    '30s',
  ],
  ['that of jobs', (url, look) => ofPool(newJobPool(url, 1).pool, look), '0'],
]

/** Runs `work` while the database says this to each new session. */
const whileSet = async ({ url }: Database, settings: object, work: () => Promise<void>) => {
  const name = new URL(url).pathname.slice(1)
  const onOther = (text: string) => onServer(process.env.TEST_POSTGRES_URL!, text)
  for (const [setting, value] of Object.entries(settings))
    await onOther(`alter database "${name}" set ${setting} = '${value}'`)
  await work().finally(() => onOther(`alter database "${name}" reset all`))
}

const withParameters = (url: string, parameters: string) => `${url}${new URL(url).search ? '&' : '?'}${parameters}`

test('no way to a session lets the server compile statements, as it does by default', async ({ database }) => {
  await whileSet(database, { jit: 'on' }, async () => {
    for (const [way, within] of ways) assert.is((await within(database.url, settingsOf)).jit, 'off', way)
  })
})

test('is set by the service, whatever the database and the URL say', async ({ database }) => {
  const parameters = 'options=-c%20jit%3Don&statement_timeout=1&lock_timeout=1'
  const urls = [database.url, withParameters(database.url, parameters)]
  await whileSet(database, UNSUITABLE, async () => {
    for (const [way, within, limit] of ways)
      for (const url of urls)
        assert.equal(await within(url, settingsOf), { ...EXPECTED, statement_timeout: limit }, `${way}, ${url}`)
  })
})

test('has no limit for transactions, where the server knows one', async ({ database }) => {
  const { rows } = await onServer(
    database.url,
    `select current_setting('transaction_timeout', true) is not null as known`,
  )
  const limitOf = async (session: Pick<pg.ClientBase, 'query'>) =>
    (await session.query(`select current_setting('transaction_timeout', true) as limit`)).rows[0].limit
  const isKnown = rows[0]!.known === true
  await whileSet(database, isKnown ? { transaction_timeout: '1h' } : {}, async () => {
    for (const [way, within] of ways) assert.is(await within(database.url, limitOf), isKnown ? '0' : null, way)
  })
})

test('leaves the other options of the URL as they are', async ({ database }) => {
  const parameters = 'options=-c%20geqo%3Doff%20-c%20search_path%3Delsewhere&application_name=theirs'
  const url = withParameters(database.url, parameters)
  const text = `select current_setting('geqo') as geqo, current_setting('search_path') as path,
    current_setting('application_name') as name, current_setting('jit') as jit`
  const { rows } = await withConnection(newClient(url, 'test'), (client) => client.query(text))
  assert.equal(rows, [{ geqo: 'off', path: 'elsewhere', name: 'theirs', jit: 'off' }])
})

test('two prepared statements whose long names begin alike are two', async ({ database }) => {
  const long = 'n'.repeat(63)
  const client = newClient(database.url, 'test')
  const pool = newPool({ url: database.url, name: 'test', max: 1 })
  const ask = async (session: Pick<pg.ClientBase, 'query'>) => {
    const first = await session.query({ name: `${long}a`, text: 'select 1 as number' })
    const second = await session.query({ name: `${long}b`, text: 'select 2 as number' })
    return [first.rows[0].number, second.rows[0].number]
  }
  assert.equal(await withConnection(client, ask), [1, 2])
  assert.equal(await ask(pool).finally(() => pool.end()), [1, 2])
})

test('no source opens a connection without it', () => {
  const root = join(import.meta.dirname, '..', '..', '..')
  const opening = /(?:new (?:pg\.(?:Client|Pool)|Connection|FairPool|LenientPool)\([^)]*)/g
  const found = globSync('{src,projections,migrations}/**/*.ts', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(opening)].map(([text]) => `${file}: ${text}`),
  )
  assert.equal(found.sort(), [
    'src/eventstore/postgres/connect.ts: new Connection({ ...config, types }',
    'src/eventstore/postgres/connect.ts: new FairPool({ ...config, ...more }',
    "src/server/summary/job-runner.ts: new LenientPool({ ...connectionConfig(url, 'jobs'",
  ])
})

test.run()
