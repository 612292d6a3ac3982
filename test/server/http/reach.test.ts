import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readConfig } from '../../../src/server/config.ts'
import { isReachedByOthers, listensOnLoopback } from '../../../src/server/http/host.ts'

const test = suite('who can reach the service')

for (const [environment, listens, others] of [
  [{}, true, false],
  [{ HOST: 'localhost' }, true, false],
  [{ HOST: '::1', PUBLIC_URL: 'http://localhost:3000' }, true, false],
  [{ PUBLIC_URL: 'https://127.0.0.1' }, true, false],
  [{ TRUST_PROXY: 'off', ALLOWED_HOSTS: '127.0.0.2,[::1],localhost' }, true, false],
  [{ PUBLIC_URL: 'https://traces.example.org' }, true, true],
  [{ PUBLIC_URL: 'http://192.0.2.7:3000' }, true, true],
  [{ TRUST_PROXY: 'loopback' }, true, true],
  [{ PUBLIC_URL: 'http://localhost:3000', TRUST_PROXY: '127.0.0.1' }, true, true],
  [{ ALLOWED_HOSTS: 'localhost,traces.example.org' }, true, true],
  [{ HOST: '0.0.0.0' }, false, true],
  [{ HOST: '192.0.2.7', PUBLIC_URL: 'http://localhost:3000' }, false, true],
] as const) {
  const who = others ? 'others, too' : 'this machine only'
  test(`${JSON.stringify(environment)}: ${who}`, () => {
    const config = readConfig(environment)
    assert.is(listensOnLoopback(config), listens)
    assert.is(isReachedByOthers(config), others)
  })
}

test.run()
