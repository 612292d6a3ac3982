import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withoutCredentials } from '../../../../src/client/agents/support/git-remote.ts'
import { traceFieldsOf } from '../../../../src/client/agents/support/trace-fields.ts'

const test = suite('the address of a git remote')

const cleaned: readonly (readonly [string, string | undefined])[] = [
  ['https://git.example/a/b.git', 'https://git.example/a/b.git'],
  ['https://user:pass@git.example/a/b.git', 'https://git.example/a/b.git'],
  ['https://ghp_token@git.example:8443/a/b', 'https://git.example:8443/a/b'],
  ['https://user:p@ss@git.example/a', 'https://git.example/a'],
  ['http://git.example/a.git?private_token=secret#secret', 'http://git.example/a.git'],
  ['https://git.example/@scope/a', 'https://git.example/@scope/a'],
  ['HTTPS://User:pass@git.example/a', 'HTTPS://git.example/a'],
  ['ssh://git@git.example:22/a/b.git', 'ssh://git@git.example:22/a/b.git'],
  ['ssh://git:pass@git.example/a', 'ssh://git@git.example/a'],
  ['https://user:pa/ss@git.example/a', undefined],
  ['https://', undefined],
  ['git@git.example:a/b.git', 'git@git.example:a/b.git'],
  ['git:pass@git.example:a/b.git', 'git.example:a/b.git'],
  ['git.example:a/@scope/b', 'git.example:a/@scope/b'],
  ['/srv/git/a.git', '/srv/git/a.git'],
  ['  https://git.example/a\n', 'https://git.example/a'],
  [' ', undefined],
  ['git://token@git.example/a', 'git://git.example/a'],
  ['ssh://git%3Apass@git.example/a', 'ssh://git.example/a'],
  ['codecommit::eu-1://profile@app', 'codecommit::eu-1://app'],
  ['persistent-https::https://user:pass@git.example/a', 'persistent-https::https://git.example/a'],
  ['ext::ssh -o password=secret git.example', undefined],
  ['https:/user:pass@git.example/a', undefined],
  ['//user:pass@git.example/a', undefined],
  ['user:pa/ss@git.example:a', undefined],
  ['https://git.example/a\nhttps://user:pass@git.example/a', undefined],
  ['git@[::1]:a/b.git', 'git@[::1]:a/b.git'],
  ['C:\\git\\a', 'C:\\git\\a'],
  ['../a', '../a'],
  ['~/git/a', '~/git/a'],
]
for (const [remote, expected] of cleaned)
  test(`${JSON.stringify(remote)} is sent as ${JSON.stringify(expected)}`, () =>
    assert.is(withoutCredentials(remote), expected))

test('the address of a remote never holds a password, in any form that git accepts', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9_~!$&'()*+,;=.-]{0,12}S3CRET[A-Za-z0-9@:~-]{0,12}$/)
  const host = fc.constantFrom('git.example', 'localhost:8443', '10.0.0.1', '[::1]')
  const path = fc.constantFrom('', '/', '/a/b.git', '/@scope/a', '/~ada/a')
  const userInfo = fc.oneof(
    fc.tuple(fc.constantFrom('ada', 'x-access-token', 'oauth2', ''), secret).map(([user, it]) => `${user}:${it}`),
    secret.map((it) => `ada%3A${it}`),
  )
  const scheme = fc.constantFrom('https', 'http', 'HTTPS', 'git', 'ftp', 'git+https', 'file', 'x')
  const ssh = fc.constantFrom('ssh', 'git+ssh', 'ssh+git', 'SSH')
  const url = fc
    .oneof(fc.tuple(scheme, fc.oneof(userInfo, secret), host, path), fc.tuple(ssh, userInfo, host, path))
    .map(([a, b, c, d]) => `${a}://${b}@${c}${d}`)
  const query = fc.tuple(scheme, host, secret).map(([a, b, c]) => `${a}://${b}/a?private_token=${c}#${c}`)
  const scp = fc.tuple(userInfo, fc.constantFrom('git.example', '[::1]')).map(([a, b]) => `${a}@${b}:a/b.git`)
  const form = fc.oneof(url, query, scp)
  const helped = fc
    .tuple(fc.constantFrom('', 'persistent-https::', 'ext::', 'a::b::', '\t'), form)
    .map((pair) => pair.join(''))
  fc.assert(
    fc.property(helped, (remote) => {
      const cleaned = withoutCredentials(remote)
      assert.not.match(cleaned ?? '', 'S3CRET')
      if (cleaned !== undefined) assert.is(withoutCredentials(cleaned), cleaned)
    }),
    { numRuns: 3_000 },
  )
})

test('the remote in the fields of a trace has no credentials; unknown fields are left out', () => {
  assert.equal(traceFieldsOf('a', { title: undefined, projectPath: '/w/app/', gitRemoteUrl: 'https://u:p@h/a' }), {
    agentId: 'a',
    projectPath: '/w/app/',
    projectName: 'a',
    gitRemoteUrl: 'https://h/a',
  })
  assert.equal(traceFieldsOf('a', { gitRemoteUrl: 'https://u:p/p@h/a' }), { agentId: 'a' })
})

test.run()
