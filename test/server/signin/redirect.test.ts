import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseRedirectTarget } from '../../../src/server/signin/redirect.ts'

const test = suite('where a sign-in may lead to')
const origin = 'https://traces.example.org'

for (const [text, is] of [
  ['https://traces.example.org', 'page'],
  ['https://traces.example.org/a?b#c', 'page'],
  ['HTTPS://TRACES.EXAMPLE.ORG:443/', 'page'],
  ['http://127.0.0.1:5000/done', 'loopback'],
  ['http://127.9.9.9/', 'loopback'],
  ['http://[::1]:5000/', 'loopback'],
  ['http://localhost:5000/', 'loopback'],
] as const) {
  test(`${text} is a ${is}`, () => assert.is(parseRedirectTarget(text, origin)?.is, is))
}

for (const text of [
  '',
  '/',
  '/me',
  '//evil.example',
  '\\\\evil.example',
  'https:evil.example',
  'https://evil.example',
  'http://traces.example.org',
  'https://traces.example.org:8443/',
  'https://traces.example.org.evil.example/',
  'https://traces.example.org@evil.example/',
  'https://evil.example\\@traces.example.org/',
  'https://me@traces.example.org/',
  'http://127.0.0.1@evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://localhost.evil.example/',
  'http://evil.example#127.0.0.1',
  'https://127.0.0.1/',
  'http://[::ffff:1.2.3.4]/',
  'http://10.0.0.1/',
  'http://0.0.0.0/',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'tracebook://done',
  `http://127.0.0.1/${'x'.repeat(2_048)}`,
]) {
  test(`${text.slice(0, 50) || 'nothing'} is refused`, () => assert.is(parseRedirectTarget(text, origin), undefined))
}

test.run()
