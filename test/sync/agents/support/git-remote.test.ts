import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withoutCredentials } from '../../../../src/sync/agents/support/git-remote.ts'
import { traceFieldsOf } from '../../../../src/sync/agents/support/trace-fields.ts'

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
]
for (const [remote, expected] of cleaned)
  test(`of ${JSON.stringify(remote)}, ${JSON.stringify(expected)} may leave`, () =>
    assert.is(withoutCredentials(remote), expected))

test('is without credentials in the fields of a trace, which leave out what was not found', () => {
  assert.equal(traceFieldsOf('a', { title: undefined, projectPath: '/w/app/', gitRemoteUrl: 'https://u:p@h/a' }), {
    agentId: 'a',
    projectPath: '/w/app/',
    projectName: 'app',
    gitRemoteUrl: 'https://h/a',
  })
  assert.equal(traceFieldsOf('a', { gitRemoteUrl: 'https://u:p/p@h/a' }), { agentId: 'a' })
})

test.run()
