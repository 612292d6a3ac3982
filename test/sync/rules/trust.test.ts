import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newProjectRules } from '../../../src/sync/rules/project-rules.ts'
import { openTrust } from '../../../src/sync/rules/trust.ts'
import { type Home, newHome } from './support/git.ts'

const test = suite<Home>('what a user has agreed to')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

const server = 'https://traces.example'

/** The rule of a project's own file. */
const ruleAt = async (context: Home, path: string) => {
  const { sources } = await newProjectRules({ ...context, remembers: false }).of(path)
  return sources.find(({ stranger }) => stranger)!
}

test('holds for a file as it is, in all worktrees of its repository, on one server', async (context) => {
  const { config, home, repository, git, write } = context
  const root = repository('app')
  write('app/.tracebook.json', { namespace: 'acme' })
  git(root, 'add', '.')
  git(root, 'commit', '--quiet', '--message=rules')
  const rule = await ruleAt(context, root)
  const trust = await openTrust(config, server)
  assert.not(trust.has(rule))
  await trust.add(rule)
  assert.ok(trust.has(rule))
  git(root, 'worktree', 'add', '--quiet', join(home, 'further'))
  const again = await openTrust(config, server)
  assert.ok(again.has(rule))
  assert.ok(again.has(await ruleAt(context, join(home, 'further'))))
  assert.not((await openTrust(config, 'https://other.example')).has(rule))
  write('app/.tracebook.json', { namespace: 'acme', visibility: 'public' })
  assert.not(again.has(await ruleAt(context, root)))
})

test('holds for no other repository with the same file', async (context) => {
  const [app, clone] = [context.repository('app'), context.repository('clone')]
  for (const name of ['app', 'clone']) context.write(`${name}/.tracebook.json`, { namespace: 'acme' })
  const trust = await openTrust(context.config, server)
  await trust.add(await ruleAt(context, app))
  assert.not(trust.has(await ruleAt(context, clone)))
})

test('is kept by two processes that agree at once to different files, and nothing in a file that is damaged', async (context) => {
  context.repository('app')
  const [one, other] = [await openTrust(context.config, server), await openTrust(context.config, server)]
  const rule = (hash: string) => ({ place: 'x', rule: {}, stranger: { anchor: '/a', hash } })
  await one.add(rule('1'))
  await other.add(rule('2'))
  const trust = await openTrust(context.config, server)
  assert.equal(
    ['1', '2', '3'].map((hash) => trust.has(rule(hash))),
    [true, true, false],
  )
  context.write('config/trusted-rules.json', '{"version":1,"agreed":[{')
  assert.not((await openTrust(context.config, server)).has(rule('1')))
})

test.run()
