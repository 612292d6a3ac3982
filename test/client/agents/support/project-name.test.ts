import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { projectNameOf, repositoryOfWorktree } from '../../../../src/client/agents/support/project-name.ts'

const test = suite('the name of a project by its path')

test('a path in a known place of worktrees names the repository', () => {
  for (const path of [
    '/home/dev/shop.worktrees/main',
    '/home/dev/shop.worktrees/feat/login-form/packages/api',
    '/home/dev/shop/.worktrees/main',
    '/home/dev/shop/.claude/worktrees/brave-otter',
    '/home/dev/shop/.claude/worktrees/brave-otter/.claude/worktrees/inner',
    '/home/dev/shop/.gemini/worktrees/a/src',
    '/home/dev/shop/.qwen/worktrees/a/',
    '/home/dev/.codex/worktrees/9a1c/shop',
    '/home/dev/.codex/worktrees/9a1c/shop/packages/api',
    '/home/dev/.cursor/worktrees/shop/x7',
    'C:\\work\\shop\\.claude\\worktrees\\a',
    'C:\\work\\shop.worktrees\\a',
  ])
    assert.is(repositoryOfWorktree(path), 'shop', path)
})

test('another path does not', () => {
  for (const path of [
    '/',
    '',
    '/home/dev/shop',
    '/home/dev/worktrees/shop',
    '/home/dev/shop.worktrees',
    '/home/dev/shop/.claude/worktrees',
    '/home/dev/.codex/worktrees/9a1c',
    '/home/dev/.cursor/worktrees/shop',
    '/.worktrees/main',
    '/.claude/worktrees/a',
  ])
    assert.is(repositoryOfWorktree(path), undefined, path)
})

test('else the remote names it, and else the folder', () => {
  for (const remote of [
    'git@git.example:acme/shop.git',
    'https://git.example/acme/shop.git/',
    'acme/shop',
    'C:\\r\\shop',
  ])
    assert.is(projectNameOf('/w/feature', remote), 'shop', remote)
  assert.is(projectNameOf('/w/shop.worktrees/a', 'https://git.example/other'), 'shop')
  for (const remote of ['/', '.git', undefined]) assert.is(projectNameOf('/w/feature', remote), 'feature')
  assert.is(projectNameOf(undefined, 'https://git.example/shop'), undefined)
  assert.is(projectNameOf('/', undefined), undefined)
})

test.run()
