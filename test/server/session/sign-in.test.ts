import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { openWorld } from '../../support/world.ts'

const test = suite('the id of a device')

const CODEHOST = {
  CODEHOST_CLIENT_ID: 'client',
  CODEHOST_CLIENT_SECRET: 'secret',
  CODEHOST_AUTHORIZE_URL: 'http://127.0.0.1:9/authorize',
  CODEHOST_TOKEN_URL: 'http://127.0.0.1:9/token',
  CODEHOST_USER_URL: 'http://127.0.0.1:9/user',
}

const { openNode } = await openWorld(test, { env: CODEHOST })

const ROUTES = ['/v1/session', '/v1/auth/start']
const SHORT = '15 characters..'
const LONG = '16 characters...'

const assertLong = async (app: App['app'], url: string) => {
  for (const deviceId of [SHORT, '😀'.repeat(15)]) {
    const answer = await app.inject({ method: 'POST', url, payload: { deviceId } })
    assert.is(answer.statusCode, 400, url)
    const { code, details } = answer.json().error
    assert.is(code, 'invalid_request')
    assert.equal(Object.keys(details.fieldErrors), ['deviceId'])
  }
  assert.is((await app.inject({ method: 'POST', url, payload: { deviceId: LONG } })).statusCode, 200, url)
}

test('has at least 16 characters if other machines can reach the service', async () => {
  const PUBLIC_URL = 'https://traces.example.org'
  for (const env of [
    { HOST: '0.0.0.0', PUBLIC_URL },
    { PUBLIC_URL },
    { PUBLIC_URL: 'http://localhost:3000', TRUST_PROXY: 'loopback' },
    { PUBLIC_URL: 'http://localhost:3000', ALLOWED_HOSTS: 'traces.example.org' },
  ]) {
    const node = await openNode({ env })
    for (const url of ROUTES) await assertLong(node.app, url)
    await node.close()
  }
})

test('may be short on a service that only this machine can reach', async () => {
  for (const HOST of ['127.0.0.1', '::1', 'localhost']) {
    const { app, close } = await openNode({ env: { HOST } })
    for (const url of ROUTES) {
      const { statusCode } = await app.inject({ method: 'POST', url, payload: { deviceId: 'a' } })
      assert.is(statusCode, 200, `${HOST}${url}`)
    }
    await close()
  }
})

test.run()
