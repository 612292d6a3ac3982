import pg from 'pg'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { OpenGroup } from '../../src/eventstore/engine/open-groups.ts'
import { newProjectorWatch } from '../../src/server/health/read-models.ts'
import { allOf, inFolder } from '../eventstore/embedded/support.ts'
import { howItEnded, launch } from '../fault/support/service.ts'
import { logEnvironment } from '../support/log-place.ts'
import { until } from '../support/until.ts'
import { openEmptyWorld } from '../support/world.ts'
import { serveInVain } from './support/processes.ts'

const test = suite('roles')
const { database, openNode } = await openEmptyWorld(test)

test('a process that could never write, or that takes no requests, cannot use the embedded PostgreSQL', () =>
  inFolder(async (folder) => {
    for (const roles of ['api', 'worker', 'projector', 'api,worker']) {
      const { how, out, err } = await serveInVain(folder, { ROLES: roles })
      assert.equal([how, out], [1, ''])
      assert.match(err, `tracebook: ROLES is ${roles}, but the embedded PostgreSQL is for one process`)
      assert.equal(await allOf(folder), [])
    }
  }))

test('a projector and a worker answer for their health, and nothing else', async () => {
  for (const roles of ['projector', 'worker', 'projector,worker']) {
    const { app, close } = await openNode({ env: { ROLES: roles }, ready: false })
    for (const url of ['/', '/docs', '/openapi.json', '/v1/feed', '/v1/models', '/v1/session'])
      assert.is((await app.inject({ url, headers: { accept: 'text/html' } })).statusCode, 404, url)
    assert.is((await app.inject({ method: 'POST', url: '/v1/session', payload: { deviceId: 'a' } })).statusCode, 404)
    assert.is((await app.inject('/health')).statusCode, 200)
    assert.is((await app.inject('/metrics')).statusCode, 200)
    assert.ok([200, 503].includes((await app.inject('/health/ready')).statusCode))
    await close()
  }
})

test('a projector says that it is one, and a second one that it stands by', async () => {
  const env = { ...logEnvironment(database.url), DATABASE_URL: database.url, ROLES: 'projector' }
  const start = () => {
    const child = launch('', env)
    const said: string[] = []
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (text) => said.push(text))
    return { child, ended: howItEnded(child), says: (text: string) => until(() => said.join('').includes(text)), said }
  }
  const first = start()
  await first.says('Tracebook runs as projector\n')
  await first.says('this process updates the read models')
  assert.not.match(first.said.join(''), 'login')
  const second = start()
  await second.says('another process updates the read models: this one stands by')
  first.child.kill('SIGKILL')
  await second.says('this process updates the read models')
  second.child.kill('SIGTERM')
  assert.equal([await first.ended, await second.ended], ['SIGKILL', 0])
})

test('a missing projector is reported once no other has taken over in time', async () => {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  let now = 0
  const absence = newProjectorWatch(client, () => now)
  const node = { schema: 'rm_1' } as OpenGroup
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  await holder.query(`select pg_advisory_lock(hashtext('tracebook runner rm_1'))`)
  assert.is(await absence(node), 0)
  await holder.query('select pg_advisory_unlock_all()')
  assert.is(await absence(node), 0)
  now = 12_000
  assert.is(await absence(node), 12_000)
  await holder.query(`select pg_advisory_lock(hashtext('tracebook runner rm_1'))`)
  assert.is(await absence(node), 0)
  await Promise.all([client.end(), holder.end()])
})

test('an API without a projector says so when it is asked whether it is ready', async () => {
  const both = await openNode({ env: { ROLES: 'api,projector' } })
  const api = await openNode({ env: { ROLES: 'api' } })
  assert.equal((await api.service.readiness()).missing, [])
  await both.close()
  await until(async () => (await api.service.readiness()).missing.join().includes('start one with the role projector'))
})

test.run()
