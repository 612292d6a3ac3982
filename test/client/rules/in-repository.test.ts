import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inRepository } from '../../../src/client/rules/in-repository.ts'
import { newProjectRules } from '../../../src/client/rules/project-rules.ts'
import { type Home, newHome } from './support/git.ts'

const test = suite<Home>('what the repository of a session tells')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

const completed = (context: Home, projectPath: string, more: object = {}, at?: number) =>
  inRepository({ agentId: 'a', projectPath, ...more }, at, newProjectRules({ ...context, remembers: false }))

const remoteOf = async (context: Home, projectPath: string, gitRemoteUrl?: string) => {
  const { trace } = await completed(context, projectPath, gitRemoteUrl === undefined ? {} : { gitRemoteUrl })
  return trace.gitRemoteUrl
}

const nameOf = async (context: Home, projectPath: string, more: object = { projectName: 'as the agent has it' }) =>
  (await completed(context, projectPath, more)).trace.projectName

/** Makes a commit at a time in milliseconds, and gives its id. */
const commitAt = (context: Home, root: string, at: number): string => {
  const date = `@${at / 1_000} +0000`
  const env = { ...context.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date }
  context.gitWith(env, root, 'commit', '--quiet', '--allow-empty', '--message=next')
  return context.git(root, 'rev-parse', 'HEAD').trim()
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

test('the project is the repository, in its folders and in all its worktrees', async (context) => {
  const root = context.repository('shop')
  const further = join(context.home, 'elsewhere', 'feature')
  context.git(root, 'worktree', 'add', '--quiet', further)
  context.write('shop/packages/api/file', '')
  context.write('elsewhere/feature/packages/api/file', '')
  for (const path of [root, further, join(root, 'packages', 'api'), join(further, 'packages', 'api')])
    assert.is(await nameOf(context, path), 'shop')
  // Of a folder that is gone, in a repository that is there.
  assert.is(await nameOf(context, join(root, '.claude', 'worktrees', 'gone')), 'shop')
})

test('a bare repository names the project of its worktrees, a submodule is a project of its own', async (context) => {
  const { home, git } = context
  const part = context.repository('part')
  for (const [bare, worktree] of [
    ['shop.git', 'one'],
    ['store/.bare', 'store/two'],
  ] as const) {
    git(home, 'clone', '--quiet', '--bare', part, join(home, bare))
    git(join(home, bare), 'worktree', 'add', '--quiet', '-b', worktree, join(home, worktree))
  }
  assert.equal(
    [await nameOf(context, join(home, 'one')), await nameOf(context, join(home, 'store', 'two'))],
    ['shop', 'store'],
  )
  const root = context.repository('app')
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part, 'libs/inner')
  assert.is(await nameOf(context, join(root, 'libs', 'inner')), 'inner')
})

test('the repository of a home folder is not the project of the folders in it', async (context) => {
  context.git(context.home, 'init', '--quiet')
  context.write('notes/file', '')
  const { trace } = await completed(context, join(context.home, 'notes'), { projectName: 'notes' })
  assert.equal(trace, { agentId: 'a', projectPath: join(context.home, 'notes'), projectName: 'notes' })
})

test('the name of a folder that is gone does not take the place of a better one', async (context) => {
  const path = join(context.home, 'feature')
  assert.equal((await completed(context, path, { projectName: 'feature' })).standIns, new Set(['projectName']))
  assert.is((await completed(context, path, { projectName: 'shop' })).standIns, undefined)
  context.write('feature/file', '')
  assert.is((await completed(context, path, { projectName: 'feature' })).standIns, undefined)
})

test('branch and commit are those of the folder, where the agent did not store them', async (context) => {
  const root = context.repository('app')
  const commit = context.git(root, 'rev-parse', 'HEAD').trim()
  const known = async (path: string, more: object = {}) => {
    const { gitBranch, gitRef } = (await completed(context, path, more)).trace
    return [gitBranch, gitRef]
  }
  assert.equal(await known(root), ['main', commit])
  assert.equal(await known(root, { gitBranch: 'mine' }), ['mine', commit])
  const further = join(context.home, 'further')
  context.git(root, 'worktree', 'add', '--quiet', '-b', 'feat/login', further)
  assert.equal(await known(further), ['feat/login', commit])
  context.git(root, 'pack-refs', '--all')
  assert.equal(await known(further), ['feat/login', commit])
  context.git(further, 'checkout', '--quiet', '--detach')
  assert.equal(await known(further), [undefined, commit])
  rmSync(further, { recursive: true })
  assert.equal(await known(further), [undefined, undefined])
  context.git(context.home, 'init', '--quiet', '--initial-branch=first', 'empty')
  assert.equal(await known(join(context.home, 'empty')), ['first', undefined])
})

test('branch and commit are those of the time when the session was last written, as far as git remembers', async (context) => {
  const root = context.repository('app')
  const start = Math.ceil(Date.now() / 1_000) * 1_000
  const [first, second] = [commitAt(context, root, start + 10_000), commitAt(context, root, start + 20_000)]
  const env = { ...context.env, GIT_COMMITTER_DATE: `@${start / 1_000 + 30} +0000` }
  context.gitWith(env, root, 'checkout', '--quiet', '-b', 'later')
  const third = commitAt(context, root, start + 40_000)
  const known = async (at: number | undefined) => {
    const { gitBranch, gitRef } = (await completed(context, root, {}, at)).trace
    return [gitBranch, gitRef]
  }
  assert.equal(await known(start + 15_000), ['main', first])
  assert.equal(await known(start + 25_000), ['main', second])
  assert.equal(await known(start + 35_000), ['later', second])
  for (const at of [start + 45_000, start - 86_400_000, undefined]) assert.equal(await known(at), ['later', third])
})

test('what no git writes names no branch and no commit', async (context) => {
  const root = context.repository('app')
  for (const head of ['ref: refs/heads/../../config', 'ref: refs/heads/a\u0007b', 'token: secret', '']) {
    context.write('app/.git/HEAD', head)
    context.write('app/.git/logs/HEAD', `no log ${head}\n`)
    const { gitBranch, gitRef } = (await completed(context, root)).trace
    assert.equal([gitBranch, gitRef], [undefined, undefined])
  }
})

test('branch and commit are unknown where references are stored as a reftable, the rest is known', async (context) => {
  const root = context.repository('app')
  context.git(root, 'remote', 'add', 'origin', 'https://git.example/app')
  context.write('app/.git/HEAD', 'ref: refs/heads/.invalid\n')
  rmSync(join(root, '.git', 'refs', 'heads'), { recursive: true })
  context.write('app/.git/refs/heads', 'this repository uses the reftable format\n')
  rmSync(join(root, '.git', 'logs'), { recursive: true, force: true })
  const { projectName, gitRemoteUrl, gitBranch, gitRef } = (await completed(context, root)).trace
  assert.equal([projectName, gitRemoteUrl, gitBranch, gitRef], ['app', 'https://git.example/app', undefined, undefined])
})

test.run()
