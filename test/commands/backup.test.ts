import { copyFile, readFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { allOf, inFolder } from '../eventstore/embedded/support.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { ask } from './support/api.ts'
import { serveInVain, start, startService } from './support/processes.ts'
import { run } from './support/user.ts'

const test = suite('tracebook backup and restore')
delete process.env.TEST_LOG_URL // a log in EventStoreDB is in no backup

/** Checkpoints that `audit verify` keeps stand beside the folder. */
const inDir = (dataDir: string, ...args: string[]) =>
  run(args, { DATA_DIR: dataDir, TRACEBOOK_CONFIG_DIR: join(dataDir, '..', 'config') })

type Proven = { readonly size: number; readonly events: readonly object[] }

/** What proves the first event of the trace `t`, in the newest tree or in that of a size. */
const proofOf = (url: string, token: string, size?: number): Promise<Proven> =>
  until(async () => {
    const answer = await fetch(`${url}/v1/traces/t/proofs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [], size }),
    })
    return answer.status === 200 && ((await answer.json()) as { data: Proven }).data
  })

/** A service with a trace, and a backup that was made while it served; it has stopped since. */
const makeBackup = async (folder: string) => {
  const [dataDir, file] = [join(folder, 'old'), join(folder, 'backup')]
  const service = await startService(dataDir)
  const body = { deviceId: 'device' }
  const { session } = await ask<{ session: { token: string } }>(service.url, '/v1/session', { method: 'POST', body })
  const { token } = session
  const put = async (trace: string) => {
    const answer = await fetch(`${service.url}/v1/traces/${trace}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"title":"Kept"}',
    })
    assert.is(answer.status, 200)
    return answer.headers.get('x-log-position')!
  }
  const kept = await put('t')
  await until(async () => (await inDir(dataDir, 'audit', 'verify')).how === 0)
  const proven = await proofOf(service.url, token)
  const made = await inDir(dataDir, 'backup', file)
  assert.is(made.how, 0, made.err)
  assert.match(made.err, /backup: \d+ events of the log, .* sha256 of the content [0-9a-f]{64}\n$/)
  const lost = await put('later')
  assert.is((await service.end('SIGTERM')).how, 0)
  return { dataDir, file, token, kept, lost, proven }
}

test('a new folder has what the old one had, clients notice what is missing, and the log can be verified', () =>
  inFolder(async (folder) => {
    const { dataDir, file, token, kept, lost, proven } = await makeBackup(folder)
    const fresh = join(folder, 'new')
    assert.match((await inDir(dataDir, 'restore', file)).err, 'the database already has data of a service')
    const done = await inDir(fresh, 'restore', file)
    assert.is(done.how, 0, done.err)
    assert.match(done.err, `put audit.key into ${fresh} first`)
    assert.equal(await allOf(fresh), [])
    await copyFile(join(dataDir, 'audit.key'), join(fresh, 'audit.key'))

    const service = await startService(fresh)
    const { trace } = await ask<{ trace: { title: string } }>(service.url, '/v1/traces/t', { token })
    assert.is(trace.title, 'Kept')
    const holds = async (position: string) =>
      (await ask<{ holds: boolean }>(service.url, `/v1/session?holds=${encodeURIComponent(position)}`, { token })).holds
    assert.equal([await holds(kept), await holds(lost)], [true, false])
    await until(async () => (await inDir(fresh, 'audit', 'verify', '--require-kept')).how === 0)
    assert.equal((await proofOf(service.url, token, proven.size)).events, proven.events)
    const { how, out } = await service.end('SIGTERM')
    assert.is(how, 0)
    assert.not.match(out, '"level":50', 'a restore that was wanted is no error')
  }))

test('a kill in the middle leaves a folder that serve refuses, and another restore begins anew', () =>
  inFolder(async (folder) => {
    const { file, token } = await makeBackup(folder)
    const fresh = join(folder, 'new')
    const isOwned = () => existsSync(join(fresh, 'tracebook.json'))
    const hasServer = () => existsSync(join(fresh, 'postgres', 'postmaster.pid'))
    for (const isThere of [isOwned, hasServer]) {
      const { child, ended } = start(['restore', file], { DATA_DIR: fresh })
      await until(async () => isThere())
      child.kill('SIGKILL')
      await ended
      assert.match(await readFile(join(fresh, 'tracebook.json'), 'utf8'), '"restores":true')
      const { how, err } = await serveInVain(fresh)
      assert.is(how, 1)
      assert.match(err, `tracebook: ${fresh}: a backup is being restored there, or a restore was broken off`)
    }
    const done = await inDir(fresh, 'restore', file)
    assert.is(done.how, 0, done.err)
    const service = await startService(fresh)
    await ask(service.url, '/v1/traces/t', { token })
    await service.end('SIGTERM')
  }))

test('there is no backup of a log in EventStoreDB, and neither command fills the disk', () =>
  inFolder(async (folder) => {
    const database = await freshDatabase()
    const file = join(folder, 'backup')
    const [from, into] = [{ DATABASE_URL: database.url }, { DATA_DIR: join(folder, 'new') }]
    const elsewhere = { ...from, EVENTSTORE_URL: 'esdb://127.0.0.1:2113' }
    const refused = await run(['backup', file], elsewhere)
    assert.is(refused.how, 2)
    assert.match(refused.err, 'The log is in EventStoreDB')
    assert.is((await run(['restore', file], elsewhere)).how, 2)

    const little = { DISK_RESERVE_MB: `${2 ** 40}` }
    const full = await run(['backup', file], { ...from, ...little })
    assert.is(full.how, 1)
    assert.match(full.err, 'DISK_RESERVE_MB')
    assert.not.ok(existsSync(file))
    assert.is((await run(['backup', file], from)).how, 0)
    const small = await run(['restore', file], { ...into, ...little })
    assert.is(small.how, 1)
    assert.match(small.err, 'free some space')
    await database.drop()
  }))

test.run()
