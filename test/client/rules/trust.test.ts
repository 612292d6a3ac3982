import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newProjectRules } from '../../../src/client/rules/project-rules.ts'
import { openTrust } from '../../../src/client/rules/trust.ts'
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

test('an agreement is valid for one content of a file, in all worktrees of its repository, on one server', async (context) => {
  const { config, home, repository, git, write } = context
  const root = repository('app')
  write('app/.tracebook.json', { namespace: 'acme' })
  git(root, 'add', '.')
  git(root, 'commit', '--quiet', '--message=rules')
  const rule = await ruleAt(context, root)
  const trust = openTrust(config, server)
  assert.not((await trust.current())(rule))
  await trust.add(rule)
  assert.ok((await trust.current())(rule))
  git(root, 'worktree', 'add', '--quiet', join(home, 'further'))
  const has = await openTrust(config, server).current()
  assert.ok(has(rule))
  assert.ok(has(await ruleAt(context, join(home, 'further'))))
  assert.not((await openTrust(config, 'https://other.example').current())(rule))
  write('app/.tracebook.json', { namespace: 'acme', visibility: 'public' })
  assert.not(has(await ruleAt(context, root)))
})

test('an agreement is not valid for another repository with the same file', async (context) => {
  const [app, clone] = [context.repository('app'), context.repository('clone')]
  for (const name of ['app', 'clone']) context.write(`${name}/.tracebook.json`, { namespace: 'acme' })
  const trust = openTrust(context.config, server)
  await trust.add(await ruleAt(context, app))
  assert.not((await trust.current())(await ruleAt(context, clone)))
})

test('agreements that two processes store at once are both kept; a damaged file has none', async (context) => {
  context.repository('app')
  const [one, other] = [openTrust(context.config, server), openTrust(context.config, server)]
  const rule = (hash: string) => ({ place: 'x', rule: {}, stranger: { anchor: '/a', hash } })
  await one.add(rule('1'))
  await other.add(rule('2'))
  const has = await one.current()
  assert.equal(
    ['1', '2', '3'].map((hash) => has(rule(hash))),
    [true, true, false],
  )
  context.write('config/trusted-rules.json', '{"version":1,"agreed":[{')
  assert.not((await one.current())(rule('1')))
})

test.run()
