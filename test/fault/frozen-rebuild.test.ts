import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { mainGroup } from '../../projections/index.ts'
import { parseSchema } from '../../src/eventstore/engine/group.ts'
import { locks } from '../../src/eventstore/engine/schema.ts'
import { inFolder } from '../eventstore/embedded/support.ts'
import { freshDatabase, onServer } from '../support/database.ts'
import { logEnvironment } from '../support/log-place.ts'
import { type Session, assertAsRebuilt, holderOf, isThere, openNode, schema } from './support/nodes.ts'
import { howItEnded } from './support/service.ts'
import { until } from '../support/until.ts'

const test = suite('a rebuild that is frozen')

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

/** `tracebook rebuild` as an operator starts it. */
const startRebuild = (folder: string, url: string): { child: ChildProcess; ended: Promise<number | string> } => {
  const env = { ...process.env, DATA_DIR: folder, DATABASE_URL: url, ...logEnvironment(url) }
  const child = spawn(process.execPath, [main, 'rebuild'], { env, stdio: 'ignore' })
  return { child, ended: howItEnded(child) }
}

/** The schemas of the main group, which is rebuilt. */
const schemas = async (url: string) =>
  (await onServer(url, `select nspname from pg_namespace where starts_with(nspname, 'rm_') order by 1`)).rows
    .map(({ nspname }) => nspname as string)
    .filter((name) => parseSchema(mainGroup, name) !== undefined)

/** Keeps the schema from being renamed: the rebuild then takes the lock of the swap again and again. */
const holdName = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`begin; grant usage on schema ${schema} to public`)
  return client
}

/** Stops the process while its session holds the lock of the swap. */
const freezeInSwap = async (url: string, child: ChildProcess): Promise<Session> => {
  const holder = () => holderOf(url, locks.swap(schema))
  for (;;) {
    await until(async () => (await holder()) !== undefined)
    child.kill('SIGSTOP')
    const held = await holder()
    if (held) return held
    child.kill('SIGCONT')
  }
}

test('while it holds the lock of the swap is ended by the server: writes go on, and the next rebuild works', () =>
  inFolder(async (folder) => {
    const { url, drop } = await freshDatabase()
    const service = await openNode(folder, 'service', url)
    const started: ChildProcess[] = []
    try {
      const token = await service.signIn('device')
      const put = (i: number) =>
        service.call('PUT', `/v1/traces/t/messages/m${i}`, { token, body: { role: 'user', textContent: `${i}` } })
      assert.is((await service.call('PUT', '/v1/traces/t', { token, body: {} })).status, 200)
      const blocker = await holdName(url)
      const { child, ended } = startRebuild(folder, url)
      started.push(child)
      const frozen = await freezeInSwap(url, child)
      await blocker.end()
      await until(async () => (await put(1)).status === 200)
      assert.not.ok(await isThere(url, frozen))

      const next = startRebuild(folder, url)
      started.push(next.child)
      assert.is(await next.ended, 0)
      assert.equal(await schemas(url), [schema])

      child.kill('SIGCONT')
      assert.not.equal(await ended, 0)
      assert.is((await put(2)).status, 200)
      assert.equal(await schemas(url), [schema])
      await assertAsRebuilt(url)
    } finally {
      for (const child of started) child.kill('SIGKILL')
      await service.end('SIGKILL')
      await drop()
    }
  }))

test.run()
