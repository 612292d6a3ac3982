import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findPlace } from '../../../src/client/rules/repository.ts'
import { type Home, newHome } from './support/git.ts'

const test = suite<Home>('where a session was worked on')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

test('rules are searched from a session’s folder up to the root of its repository', async ({ home, repository }) => {
  const root = repository('work/app')
  mkdirSync(join(root, 'a', 'b'), { recursive: true })
  const place = await findPlace(join(root, 'a', 'b'), home)
  assert.equal(place?.folders, [join(root, 'a', 'b'), join(root, 'a'), root])
  assert.equal(place?.repository, { root, gitDir: join(root, '.git'), commonDir: join(root, '.git') })
})

test('without a repository, rules are searched up to the home folder', async ({ home }) => {
  mkdirSync(join(home, 'notes', 'x'), { recursive: true })
  const place = await findPlace(join(home, 'notes', 'x'), home)
  assert.equal(place?.folders, [join(home, 'notes', 'x'), join(home, 'notes'), home])
  assert.is(place?.repository, undefined)
})

test('in a worktree, rules are also searched at the root of the main worktree', async ({ home, repository, git }) => {
  const root = repository('app')
  const worktree = join(home, 'elsewhere')
  git(root, 'worktree', 'add', '--quiet', worktree)
  const place = await findPlace(worktree, home)
  assert.equal(place?.folders, [worktree, root])
  assert.is(place?.repository?.commonDir, join(root, '.git'))
  assert.is(place?.repository?.gitDir, join(root, '.git', 'worktrees', 'elsewhere'))
})

test('a submodule is a repository of its own', async ({ home, repository, git }) => {
  const [root, part] = [repository('app'), repository('part')]
  git(root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part, 'part')
  const place = await findPlace(join(root, 'part'), home)
  assert.is(place?.repository?.root, join(root, 'part'))
  assert.is(place?.repository?.gitDir, join(root, '.git', 'modules', 'part'))
  assert.equal(place?.folders, [join(root, 'part')])
})

test('the repository is found through a symbolic link, and for deleted folders', async ({ home, repository }) => {
  const root = repository('app')
  symlinkSync(root, join(home, 'link'))
  assert.is((await findPlace(join(home, 'link'), home))?.path, root)
  const gone = await findPlace(join(home, 'link', 'gone', 'for', 'good'), home)
  assert.equal([gone?.path, gone?.exists], [join(root, 'gone', 'for', 'good'), false])
  assert.is(gone?.repository?.root, root)
})

test('a bare repository inside a clone, or an empty folder .git, is not the repository of a session', async ({
  home,
  repository,
}) => {
  const root = repository('app')
  cpSync(join(root, '.git'), join(root, 'vendor'), { recursive: true })
  assert.is((await findPlace(join(root, 'vendor'), home))?.repository?.root, root)
  mkdirSync(join(root, 'sub', '.git'), { recursive: true })
  assert.is((await findPlace(join(root, 'sub'), home))?.repository?.root, root)
  rmSync(join(root, '.git'), { recursive: true })
  assert.is((await findPlace(join(root, 'vendor'), home))?.repository, undefined)
})

test('a path of another machine has no repository', async ({ home }) => {
  for (const path of ['C:\\work\\app', 'app', '', 'a\0b', '/a\0b']) assert.is(await findPlace(path, home), undefined)
})

test.run()
