import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newApplyingClient, newLeaderClient, newPool } from '../../../src/eventstore/postgres/connect.ts'
import { type LeaderSession, openLeaderSession } from '../../../src/eventstore/postgres/leader.ts'
import { newProxy } from '../log/support/proxy.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'

type Scene = { database: Database; proxy: Awaited<ReturnType<typeof newProxy>>; leaders: LeaderSession[] }

const test = suite<Scene>('sessions that lead, and connections that are lost without a word')
test.before.each(async (scene) => {
  scene.database = await freshDatabase()
  scene.proxy = await newProxy(scene.database.url)
  scene.leaders = []
})
test.after.each(async ({ database, proxy, leaders }) => {
  await Promise.all(leaders.map((leader) => leader.close()))
  await proxy.close()
  await database.drop()
})

const STATEMENT_MS = 300

test('a pool whose connections are all lost loses one round of requests, not one for each', async ({ proxy }) => {
  const pool = newPool({ url: proxy.url, name: 'test', max: 4, statementTimeoutMs: STATEMENT_MS })
  const ask = () => pool.query('select pg_sleep(0.01)')
  await Promise.all(Array.from({ length: 4 }, ask))
  assert.is(pool.totalCount, 4)
  proxy.forget()
  const first = await ask().catch((error: Error) => error)
  assert.instance(first, Error)
  for (let i = 0; i < 4; i++) await ask()
  await pool.end()
})

const NEVER = new AbortController().signal

const open = async ({ proxy, leaders }: Scene) => {
  const leader = await openLeaderSession(proxy.url, newApplyingClient(proxy.url, 'public'))
  leaders.push(leader)
  return leader
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

test('one process leads, the next one stands by and follows at once', async (scene) => {
  const [first, second] = [await open(scene), await open(scene)]
  assert.ok(await first.acquire('turn', NEVER))
  let isWaiting = () => {}
  const waits = new Promise<void>((resolve) => (isWaiting = resolve))
  const next = second.acquire('turn', NEVER, isWaiting)
  await waits
  await first.close()
  assert.ok(await next)
})

test('a process that stops waiting does not hold the lock', async (scene) => {
  const [first, second] = [await open(scene), await open(scene)]
  await first.acquire('turn', NEVER)
  const stop = new AbortController()
  const next = second.acquire('turn', stop.signal, () => stop.abort())
  assert.not.ok(await next)
})

test('a session that is silent loses its lock and its open transaction, and the leader learns of it', async (scene) => {
  const { database, proxy } = scene
  const silent = await open(scene)
  await silent.acquire('turn', NEVER)
  await silent.client.query('begin; select pg_advisory_xact_lock(1)')
  proxy.forget() // as if the process, its machine or the network were frozen
  const heir = await open(scene)
  assert.ok(await heir.acquire('turn', NEVER))
  await onServer(database.url, 'select pg_advisory_lock(1)')
  await aborted(silent.lost)
})

test('a session that was frozen while it sent a statement loses its lock', async (scene) => {
  const { database } = scene
  const frozen = new pg.Client({ connectionString: database.url })
  frozen.on('error', () => {})
  await frozen.connect()
  await frozen.query(`set idle_session_timeout = 1000; select pg_advisory_lock(hashtext('turn'))`)
  const { connection } = frozen as unknown as { connection: { parse(query: object): void; flush(): void } }
  connection.parse({ text: 'select 1', name: 'first use' }) // what would follow stays in the frozen process
  connection.flush()
  const heir = await open(scene)
  assert.ok(await heir.acquire('turn', NEVER))
  await frozen.end()
})

test('work whose answer is lost fails', async (scene) => {
  const { client } = await open(scene)
  scene.proxy.forget()
  assert.instance(await client.query('select 1').catch((error: Error) => error), Error)
})

test('a heartbeat may be sent while other statements are under way', async ({ proxy, leaders }) => {
  const warnings: string[] = []
  const note = ({ message }: Error) => warnings.push(message)
  process.on('warning', note)
  const leader = await openLeaderSession(proxy.url, newLeaderClient(proxy.url, 'test', 5_000))
  leaders.push(leader)
  await Promise.all(['1.5', '0.1', '0'].map((seconds) => leader.client.query('select pg_sleep($1)', [seconds])))
  process.off('warning', note)
  assert.equal(warnings, [])
})

/** Calls `work` at once when the next heartbeat has been sent. */
const afterHeartbeat = ({ client }: LeaderSession, work: () => void) =>
  new Promise<void>((resolve) => {
    const query = client.query.bind(client)
    const send = (text: string) => {
      const sent = query(text)
      client.query = query
      setImmediate(() => resolve(work())) // it is on its way, no answer has been read, and timers come next
      return sent
    }
    client.query = send as unknown as typeof client.query
  })

test('a leader that did nothing for less time than a lease goes on leading', async ({ database: { url }, leaders }) => {
  const leader = await openLeaderSession(url, newApplyingClient(url, 'public'))
  leaders.push(leader)
  await afterHeartbeat(leader, () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_300))
  await onServer(url, 'select pg_sleep(1)')
  assert.not.ok(leader.lost.aborted)
})

test('a leader that has nothing to do, or waits for work that takes long, goes on leading', async (scene) => {
  const leader = await open(scene)
  await leader.acquire('turn', NEVER)
  const observer = newApplyingClient(scene.database.url, 'public')
  await observer.connect()
  await observer.query('select pg_sleep(6)') // idle for longer than a silent session would live
  const { rows } = await leader.client.query<{ one: number }>('select 1 as one, pg_sleep(6)')
  assert.is(rows[0]!.one, 1)
  assert.not.ok(leader.lost.aborted)
  const locks = await observer.query(`select 1 from pg_locks where locktype = 'advisory' and granted`)
  assert.ok((locks as pg.QueryResult).rows.length > 0)
  await observer.end()
})

test.run()
