import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { tmpdir } from 'node:os'
import { openWorld } from '../../support/world.ts'

const test = suite('a disk that is nearly full')
let isDiskLow = false
const { node } = await openWorld(test, { isDiskLow: () => isDiskLow, dataDir: tmpdir() })
const { app, call } = node

test('refuses writes and says why, serves reads, and leaves the service ready', async () => {
  const { data } = await call('POST', '/v1/session', { body: { deviceId: 'somebody' } })
  const { token } = (data as { session: { token: string } }).session
  const put = async () =>
    app.inject({ method: 'PUT', url: '/v1/traces/t', headers: { authorization: `Bearer ${token}` }, payload: {} })
  const ready = async () => (await app.inject('/health/ready')).json() as { status: string; degraded?: string[] }
  assert.is((await put()).statusCode, 200)
  isDiskLow = true
  const refused = await put()
  assert.equal([refused.statusCode, refused.headers['retry-after']], [503, '1'])
  const { error } = refused.json() as { error: { code: string; message: string; details: object } }
  assert.equal([error.code, error.details], ['unavailable', { stored: false }])
  assert.match(error.message, /disk of the service is nearly full/)
  assert.is((await call('GET', '/v1/traces/t', { token })).status, 200)
  const { status, degraded } = await ready()
  assert.is(status, 'ready')
  assert.match(degraded!.join(), 'disk is nearly full: writes are refused')
  assert.match((await app.inject('/metrics')).body, /^tracebook_disk_free_bytes [1-9]/m)
  isDiskLow = false
  assert.is((await put()).statusCode, 200)
  assert.is((await ready()).degraded, undefined)
})

test.run()
