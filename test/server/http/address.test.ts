import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ConfigError, readConfig } from '../../../src/server/config.ts'
import { addressKey } from '../../../src/server/http/address.ts'

const test = suite('addresses')

for (const [address, key] of [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'gone'],
] as const) {
  test(`${address} counts as ${key}`, () => assert.is(addressKey(address), key))
}

for (const [text, value] of [
  ['', false],
  ['off', false],
  ['loopback', ['loopback']],
  ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
] as const) {
  test(`TRUST_PROXY ${text || 'unset'} is taken`, () =>
    assert.equal(readConfig({ TRUST_PROXY: text }).TRUST_PROXY, value))
}

for (const environment of [
  ...['on', 'true', '1', '10.0.0.0/99', 'proxy.example', '10.0.0.1,'].map((TRUST_PROXY) => ({ TRUST_PROXY })),
  ...['*', 'app.example', 'https://app.example/', 'null', 'ftp://a'].map((CORS_ORIGINS) => ({ CORS_ORIGINS })),
]) {
  test(`${JSON.stringify(environment)} is refused`, () =>
    assert.throws(
      () => readConfig(environment),
      (error: unknown) => error instanceof ConfigError,
    ))
}

test.run()
