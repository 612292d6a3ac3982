import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withRemote } from '../../../src/client/rules/remote.ts'
import { newProjectRules } from '../../../src/client/rules/project-rules.ts'
import { type Home, newHome } from './support/git.ts'

const test = suite<Home>('the remote of a session')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

const remoteOf = async (context: Home, projectPath: string, gitRemoteUrl?: string) => {
  const stored = gitRemoteUrl === undefined ? {} : { gitRemoteUrl }
  const fields = { agentId: 'a', projectPath, ...stored }
  const found = await withRemote(fields, newProjectRules({ ...context, remembers: false }))
  assert.equal(
    Object.keys(found).filter((name) => /^git(?:Branch|Ref)$/.test(name)),
    [],
  )
  return found.gitRemoteUrl
}

test('the remote is the one that the agent stored, else the repository’s origin, without credentials', async (context) => {
  const root = context.repository('app')
  assert.is(await remoteOf(context, root), undefined)
  context.git(root, 'remote', 'add', 'fork', 'https://ada:token@git.example/fork.git')
  assert.is(await remoteOf(context, root), 'https://git.example/fork.git')
  context.git(root, 'remote', 'add', 'other', 'https://git.example/other.git')
  assert.is(await remoteOf(context, root), undefined)
  context.git(root, 'remote', 'add', 'origin', 'git@git.example:acme/app.git')
  assert.is(await remoteOf(context, root), 'git@git.example:acme/app.git')
  context.git(root, 'remote', 'set-url', '--add', 'origin', 'https://git.example/second.git')
  assert.is(await remoteOf(context, root), 'git@git.example:acme/app.git')
  assert.is(await remoteOf(context, root, 'https://stored.example/a'), 'https://stored.example/a')
  context.git(root, 'worktree', 'add', '--quiet', join(context.home, 'further'))
  assert.is(await remoteOf(context, join(context.home, 'further')), 'git@git.example:acme/app.git')
})

test('the remote is unknown outside of repositories, and without git', async (context) => {
  const root = context.repository('app')
  context.git(root, 'remote', 'add', 'origin', 'https://git.example/app')
  assert.is(await remoteOf(context, context.home), undefined)
  assert.is(await remoteOf(context, 'C:\\app'), undefined)
  const env = { ...context.env, PATH: join(context.home, 'nothing') }
  assert.is(await remoteOf({ ...context, env }, root), undefined)
})

test('a remote in the user’s global configuration does not count, because every repository has it', async (context) => {
  const root = context.repository('app')
  context.git(root, 'config', '--global', 'remote.origin.url', 'https://git.example/global')
  assert.is(await remoteOf(context, root), undefined)
})

test.run()
