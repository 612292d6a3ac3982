import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { codehostOf } from '../../../src/server/signin/settings.ts'
import { newWorld } from '../../support/world.ts'

const test = suite('settings of a code host')
const client = { CODEHOST_CLIENT_ID: 'id', CODEHOST_CLIENT_SECRET: 'secret' }
const issuer = { CODEHOST_ISSUER: 'https://id.example' }
const addresses = {
  CODEHOST_AUTHORIZE_URL: 'https://host.example/authorize',
  CODEHOST_TOKEN_URL: 'https://host.example/token',
  CODEHOST_USER_URL: 'https://api.host.example/user',
}

for (const [environment, is] of [
  [{}, undefined],
  [{ ...client, ...issuer }, 'openid'],
  [{ ...client, ...addresses }, 'oauth'],
  [{ ...client, CODEHOST_ISSUER: 'http://127.0.0.1:4000' }, 'openid'],
  [{ ...client, ...issuer, PUBLIC_URL: 'https://traces.example.org' }, 'openid'],
  [{ ...client, ...issuer, PUBLIC_URL: 'http://localhost:3000', HOST: '0.0.0.0' }, 'openid'],
  [{ PUBLIC_URL: 'http://traces.example.org' }, undefined],
] as const) {
  test(`${Object.keys(environment).join(', ') || 'nothing'}: ${is ?? 'no code host'}`, () =>
    assert.is(codehostOf(readConfig(environment))?.protocol.is, is))
}

for (const [environment, name] of [
  [client, 'CODEHOST_AUTHORIZE_URL'],
  [issuer, 'CODEHOST_CLIENT_ID'],
  [{ ...issuer, CODEHOST_CLIENT_ID: 'id' }, 'CODEHOST_CLIENT_SECRET'],
  [{ ...client, ...addresses, CODEHOST_USER_URL: '' }, 'CODEHOST_USER_URL'],
  [{ ...client, CODEHOST_ISSUER: 'http://id.example' }, 'CODEHOST_ISSUER'],
  [{ ...client, CODEHOST_ISSUER: 'id.example' }, 'CODEHOST_ISSUER'],
  [{ ...client, ...issuer, HOST: '0.0.0.0' }, 'PUBLIC_URL'],
  [{ ...client, ...issuer, TRUST_PROXY: 'loopback' }, 'PUBLIC_URL'],
  [{ ...client, ...issuer, PUBLIC_URL: 'http://traces.example.org' }, 'PUBLIC_URL'],
  [{ ...client, ...addresses, PUBLIC_URL: 'http://192.0.2.7:3000', HOST: '0.0.0.0' }, 'PUBLIC_URL'],
] as const) {
  test(`${JSON.stringify(environment)} is refused for ${name}`, () =>
    assert.throws(() => readConfig(environment), new RegExp(`${name}: `)))
}

test('an http address that others reach is refused, and the error names both settings', () => {
  const given = { ...client, ...issuer, PUBLIC_URL: 'http://traces.example.org' }
  assert.throws(
    () => readConfig(given),
    /PUBLIC_URL: must start with https:\/\/ .*\(CODEHOST_CLIENT_ID, CODEHOST_CLIENT_SECRET, CODEHOST_ISSUER\)/,
  )
})

test('without a code host there are no routes to sign in with it', async () => {
  const { node, close } = await newWorld()
  for (const [method, url] of [
    ['POST', '/v1/auth/start'],
    ['GET', '/v1/auth/callback/codehost?state=x&code=y'],
    ['POST', '/v1/auth/complete'],
  ] as const) {
    for (const body of method === 'POST' ? [{ deviceId: 'd' }, undefined] : [undefined]) {
      const { status, error } = await node.call(method, url, { body })
      assert.equal([status, error], [404, { code: 'not_found', message: 'Not found' }])
    }
  }
  await close()
})

test.run()
