import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/cli/exit.ts'
import type { EnvironmentVariables } from '../../../src/client/agents/agent.ts'
import { newProjectRules } from '../../../src/client/rules/project-rules.ts'
import { type Home, newHome } from './support/git.ts'

const test = suite<Home>('the rules of a project')

test.before.each((context) => void Object.assign(context, newHome()))
test.after.each(({ remove }) => remove())

type Where = Pick<Home, 'home' | 'config'> & { readonly env: EnvironmentVariables }

const rulesIn = ({ home, config, env }: Where, remembers = true) => newProjectRules({ env, home, config, remembers })

/** The rules of a path, each with the place it is from, in their order. */
const said = async (where: Where, path: string | undefined) =>
  (await rulesIn(where).of(path)).sources.map(({ place, rule }) => [place.replaceAll(where.home, '~'), rule])

const failure = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => assert.unreachable('did not fail'),
    (error: unknown) => error,
  )
  assert.instance(error, UsageError)
  return (error as UsageError).message
}

test('rules come from git, the user and the project, in the documented order', async (context) => {
  const { home, repository, write, git } = context
  const root = repository('code/app')
  git(root, 'config', 'tracebook.namespace', 'Local')
  git(root, 'config', '--global', 'tracebook.namespace', 'global')
  write('config/tracebook.json', {
    projects: [
      { path: '~/code', visibility: 'direct' },
      { path: '**/app', namespace: 'by-path' },
      { path: '~/elsewhere', never: true },
    ],
  })
  write('code/app/.tracebook.json', { namespace: 'root' })
  write('code/app/pkg/.tracebook.json', { visibility: 'private' })
  assert.equal(await said(context, join(home, 'code', 'app', 'pkg')), [
    ['git config of ~/code/app', { namespace: 'local' }],
    ['"~/code" in ~/config/tracebook.json', { visibility: 'direct' }],
    ['"**/app" in ~/config/tracebook.json', { namespace: 'by-path' }],
    ['~/code/app/pkg/.tracebook.json', { visibility: 'private' }],
    ['~/code/app/.tracebook.json', { namespace: 'root' }],
    ['git config --global', { namespace: 'global' }],
  ])
  assert.equal(await said(context, undefined), [['git config --global', { namespace: 'global' }]])
})

test('rules in git’s configuration are read as git reads it: includes, worktrees, the last of several values, an empty value that unsets', async (context) => {
  const { home, repository, write, git } = context
  const root = repository('app')
  write('of-work', '[tracebook]\n\tnamespace = included\n')
  git(root, 'config', '--global', `includeIf.gitdir:${home}/other/.path`, join(home, 'of-work'))
  assert.equal(await said(context, root), [])
  git(root, 'config', '--global', `includeIf.gitdir:${home}/app/.path`, join(home, 'of-work'))
  assert.equal(await said(context, root), [['git config --global', { namespace: 'included' }]])
  git(root, 'config', 'include.path', join(home, 'of-work'))
  git(root, 'config', '--add', 'tracebook.visibility', 'public')
  git(root, 'config', '--add', 'tracebook.visibility', 'direct')
  appendFileSync(join(root, '.git', 'config'), '[TraceBook] never\n')
  const local = { namespace: 'included', visibility: 'direct', never: true }
  assert.equal((await said(context, root))[0], ['git config of ~/app', local])
  const worktree = join(home, 'further')
  git(root, 'worktree', 'add', '--quiet', worktree)
  assert.equal((await said(context, worktree))[0], ['git config of ~/further', local])
  git(root, 'config', 'tracebook.never', 'no')
  git(root, 'config', '--add', 'tracebook.namespace', '')
  assert.equal((await said(context, root))[0], ['git config of ~/app', { visibility: 'direct', never: false }])
})

test('the rules in git’s configuration are those of the project’s repository, even if the environment names another one', async (context) => {
  const { home, repository, git } = context
  const [root, other] = [repository('app'), repository('other')]
  git(other, 'config', 'tracebook.namespace', 'other')
  git(root, 'config', 'tracebook.namespace', 'app')
  const env = {
    ...context.env,
    GIT_DIR: join(other, '.git'),
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'tracebook.visibility',
    GIT_CONFIG_VALUE_0: 'public',
  }
  const where = { home, config: context.config, env }
  assert.equal(await said(where, root), [['git config of ~/app', { namespace: 'app' }]])
  assert.equal(await said(where, home), [])
})

test('reading rules runs no program that a hostile repository names', async (context) => {
  const { home, repository, git, write } = context
  const root = repository('app')
  const [proof, program] = [join(home, 'proof'), write('program', `#!/bin/sh\ntouch "${join(home, 'proof')}"\n`)]
  execFileSync('chmod', ['+x', program])
  for (const name of [
    'core.fsmonitor',
    'core.pager',
    'pager.config',
    'core.editor',
    'core.sshCommand',
    'core.askPass',
    'diff.external',
    'credential.helper',
    'gpg.program',
    'alias.config',
    'remote.origin.uploadpack',
    'trace2.eventTarget',
  ])
    git(root, 'config', name, name === 'alias.config' ? `!${program}` : program)
  git(root, 'config', 'core.hooksPath', home)
  git(root, 'config', 'tracebook.namespace', 'app')
  git(root, 'config', 'remote.origin.url', `ext::${program}`)
  write('app/git', `#!/bin/sh\ntouch "${proof}"\n`)
  execFileSync('chmod', ['+x', join(root, 'git')])
  const where = { ...context, env: { ...context.env, PATH: `.:${process.env.PATH}` } }
  const rules = rulesIn(where)
  const { place, sources } = await rules.of(root)
  assert.equal(sources[0]?.rule, { namespace: 'app' })
  assert.ok((await rules.git().settings(place!.repository!)).length > 10)
  assert.not(existsSync(proof))
})

test('the configuration of a bare repository inside a clone has no rules', async (context) => {
  const { repository, git } = context
  const root = repository('app')
  git(root, 'init', '--quiet', '--bare', 'vendor')
  git(join(root, 'vendor'), 'config', 'tracebook.namespace', 'evil')
  assert.equal(await said(context, join(root, 'vendor')), [])
})

test('rules that git cannot read are an error with git’s reason', async (context) => {
  const { home, repository, git } = context
  const root = repository('app')
  git(root, 'config', 'tracebook.never', 'true')
  const without = { ...context, env: { ...context.env, PATH: join(home, 'nothing') } }
  assert.match(await failure(said(without, root)), /app: .*git is not installed/)
  assert.equal(await said(without, join(home, 'notes')), [])
  appendFileSync(join(root, '.git', 'config'), '[broken\n')
  assert.match(await failure(said(context, root)), /git config of .*app: .*bad config line \d+/)
  rmSync(join(root, '.git', 'config'))
  execFileSync('mkfifo', [join(root, '.git', 'config')])
  await said(context, root).then(
    () => assert.unreachable('read a pipe'),
    (error: Error) => assert.match(error.message, 'expected a regular file'),
  )
})

if (process.getuid?.() === 0)
  test('rules of a repository of another user are an error, because git does not trust it', async (context) => {
    const root = context.repository('app')
    assert.equal(await said(context, root), [])
    context.git(root, 'config', 'tracebook.never', 'true')
    execFileSync('chown', ['-R', '1234', root])
    assert.match(await failure(said(context, root)), /app: git does not trust its configuration/)
  })

test('a mistake in a rule is an error that says where it is', async (context) => {
  const { home, repository, write, git } = context
  const root = repository('app')
  const mistakes: readonly (readonly [string, RegExp])[] = [
    ['{"never": true,}', /^.*app\/\.tracebook\.json: .*(line 1 column 16|position 15)/],
    ['[]', /\.tracebook\.json: .*object/],
    ['{"nevr": true}', /\.tracebook\.json: .*"nevr"/],
    ['{"never": "yes"}', /\.tracebook\.json: never: .*boolean/],
    ['{"visibility": "secret"}', /\.tracebook\.json: visibility: must be one of private, direct, public/],
    ['{"namespace": "a/b"}', /\.tracebook\.json: namespace: is not the name of a namespace/],
    ['{"exclude": ["a", "../b"]}', /\.tracebook\.json: exclude\/1: must not hold "\.\."/],
    [`{"exclude": ["${'a'.repeat(300)}"]}`, /\.tracebook\.json: exclude\/0: .*256/],
  ]
  for (const [text, expected] of mistakes) {
    write('app/.tracebook.json', text)
    assert.match(await failure(said(context, root)), expected)
  }
  rmSync(join(root, '.tracebook.json'))
  git(root, 'config', 'tracebook.never', 'perhaps')
  assert.match(await failure(said(context, root)), /git config of .*app: tracebook\.never: /)
  for (const [content, expected] of [
    [{ projects: [{ path: 'work', never: true }] }, /tracebook\.json: "work" must begin with/],
    [{ project: [] }, /tracebook\.json: .*"project"/],
  ] as const) {
    write('config/tracebook.json', content)
    assert.match(await failure(said(context, home)), expected)
  }
})

test('rules in a pipe, a device or a very large file are not read', async (context) => {
  const { repository, write } = context
  const root = repository('app')
  const file = join(root, '.tracebook.json')
  const fails = async (expected: string) => {
    await said(context, root).then(
      () => assert.unreachable('was read'),
      (error: Error) => assert.match(error.message, expected),
    )
    rmSync(file)
  }
  execFileSync('mkfifo', [file])
  await fails('expected a regular file')
  symlinkSync('/dev/zero', file)
  await fails('expected a regular file')
  write('app/.tracebook.json', ' '.repeat(100_000))
  await fails('expected at most 65,536 bytes')
  mkdirSync(file)
  await said(context, root).then(
    () => assert.unreachable('was read'),
    (error: Error) => assert.match(error.message, /expected a regular file|EISDIR/),
  )
})

test('globs of a project exclude folders below its file, and globs of the user exclude whole paths', async (context) => {
  const { home, repository, write } = context
  const root = repository('code/app')
  write('code/app/.tracebook.json', { exclude: ['packages/billing', '**/scratch'] })
  const never = async (path: string) =>
    (await said(context, path)).some(([, rule]) => (rule as { never?: boolean }).never)
  assert.equal(
    await Promise.all([root, join(root, 'packages', 'billing', 'src'), join(root, 'a', 'scratch')].map(never)),
    [false, true, true],
  )
  write('config/tracebook.json', { exclude: ['~/clients/**', '**/secret*', '/srv/x'] })
  symlinkSync(join(home, 'code'), join(home, 'clients'))
  const rules = rulesIn(context)
  const excludes = async (source: string, path?: string) =>
    (await rules.excludes(source, path))?.replaceAll(home, '~') ?? 'none'
  assert.is(await excludes('/s/1.jsonl', join(home, 'other')), 'none')
  assert.is(
    await excludes('/s/1.jsonl', join(home, 'clients', 'x')),
    '"~/clients/**" of exclude in ~/config/tracebook.json',
  )
  // The folder that the glob names is a link, and the agent has stored where it leads.
  assert.match(await excludes('/s/1.jsonl', root), '~/clients')
  assert.is(await excludes('/s/1.jsonl', 'C:\\other'), 'none')
  assert.match(await excludes('/srv/x/1.jsonl'), '/srv/x')
  assert.match(await excludes('/s/secrets.jsonl#7'), 'secret')
})

test('rules are remembered after the project’s folder was deleted', async (context) => {
  const { home, repository, write } = context
  const root = repository('app')
  const rule = { namespace: 'acme', never: true }
  const file = write('app/.tracebook.json', rule)
  await said(context, root)
  rmSync(root, { recursive: true })
  assert.equal(await said(context, root), [['~/app/.tracebook.json, which is gone', rule]])
  mkdirSync(root)
  assert.equal(await said(context, root), [])
  rmSync(root, { recursive: true })
  assert.equal(await said(context, root), [])
  assert.not(existsSync(file))
  assert.equal(await said(context, join(home, 'never-was')), [])
})

test('a dry run does not store rules', async (context) => {
  const root = context.repository('app')
  context.write('app/.tracebook.json', { never: true })
  await rulesIn(context, false).of(root)
  assert.not(existsSync(context.config))
})

test('rules are read again after five seconds', async (context) => {
  const root = context.repository('app')
  let now = 0
  const rules = newProjectRules({ ...context, remembers: false }, () => now)
  assert.is((await rules.of(root)).sources.length, 0)
  context.write('app/.tracebook.json', { never: true })
  now += 5_000
  assert.is((await rules.of(root)).sources.length, 1)
})

test.run()
