import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { newRulesWorld, type RulesWorld } from './support/world.ts'

const test = suite<RulesWorld>('a sync with rules')

test.before.each(async (context) => void Object.assign(context, await newRulesWorld()))
test.after.each(({ close }) => close())

const login = 'user-1 private'

/** Each session's status with the reason, by the name of its file. */
const outcomes = (events: readonly SyncEvent[], home: string) =>
  Object.fromEntries(
    events.flatMap((event) => {
      if (event.type !== 'session') return []
      const why = event.why === undefined ? '' : `: ${event.why.replaceAll(home, '~')}`
      return [[event.file.replace(/^.*\/|\.jsonl$/g, ''), `${event.status}${why}`]]
    }),
  )

test('sync sends each session where the rules of its project say', async ({
  home,
  repository,
  git,
  write,
  session,
  sync,
  stored,
}) => {
  const [app, own, secret] = [repository('app'), repository('own'), repository('secret')]
  git(app, 'config', 'tracebook.namespace', 'acme')
  git(own, 'config', 'tracebook.visibility', 'direct')
  write('secret/.tracebook.json', { never: true })
  write('config/tracebook.json', { exclude: ['~/clients'] })
  session('s-app', app, 'a')
  session('s-own', own, 'b')
  session('s-secret', join(secret, 'pkg'), 'c')
  session('s-client', join(home, 'clients', 'x'), 'd')
  session('s-none', '/w/nowhere', 'e')
  const { summary, events } = await sync()
  assert.equal(stored(), { 's-app': 'acme private', 's-own': 'user-1 direct', 's-none': login })
  assert.equal(outcomes(events, home), {
    's-app': 'synced',
    's-own': 'synced',
    's-none': 'synced',
    's-secret': 'excluded: never sent, says ~/secret/.tracebook.json',
    's-client': 'excluded: left out by "~/clients" of exclude in ~/config/tracebook.json',
  })
  assert.equal([summary.synced, summary.excluded, summary.exitCode], [3, 2, 0])
  const again = await sync()
  assert.equal([again.summary.unchanged, again.summary.excluded, again.summary.exitCode], [3, 2, 0])
})

test('sync stops sending a session once a rule says never, and sends it to another namespace once a rule names one', async (world) => {
  const { repository, git, session, sync, stored } = world
  const app = repository('app')
  session('s-1', app, 'a')
  await sync()
  git(app, 'config', 'tracebook.never', 'true')
  session('s-1', app, 'a', 'b')
  assert.is((await sync()).summary.excluded, 1)
  assert.is(world.server.traces[0]?.messages.size, 1)
  git(app, 'config', 'tracebook.never', 'false')
  git(app, 'config', 'tracebook.namespace', 'acme')
  assert.is((await sync()).summary.messages, 2)
  assert.equal(Object.keys(stored()), ['s-1'])
  assert.is(world.server.traces.length, 2)
})

test('sync holds sessions that a cloned file sends to another namespace, until the user agrees to the file', async (world) => {
  const { home, repository, write, session, sync, stored } = world
  const app = repository('app')
  write('app/.tracebook.json', { namespace: 'acme' })
  session('s-1', app, 'a')
  session('s-2', app, 'b')
  session('s-3', '/w/other', 'c')
  const unasked = await sync()
  assert.equal(stored(), { 's-3': login })
  assert.equal([unasked.summary.held, unasked.summary.synced, unasked.summary.exitCode], [2, 1, 2])
  assert.match(
    outcomes(unasked.events, home)['s-1']!,
    /^held: ~\/app\/\.tracebook\.json sends it to the namespace acme/,
  )
  const told = unasked.events.filter((event) => event.type === 'not_sent')
  assert.equal(
    told.map(({ status, sessions }) => [status, sessions]),
    [['held', 2]],
  )
  const refused = await sync({ answers: [false] })
  assert.equal([stored(), refused.summary.exitCode], [{ 's-3': login }, 2])
  const agreed = await sync({ answers: [true] })
  assert.match(agreed.questions[0]!, /app\/\.tracebook\.json came with the project/)
  assert.match(agreed.questions[0]!, /2 sessions to the namespace acme at http:.*\n.*s-1\.jsonl\n.*s-2\.jsonl\n/)
  assert.equal(stored(), { 's-1': 'acme private', 's-2': 'acme private', 's-3': login })
  assert.equal([agreed.summary.synced, agreed.summary.unchanged, agreed.summary.exitCode], [2, 1, 0])
  session('s-4', app, 'd')
  assert.is((await sync()).summary.exitCode, 0)
  write('app/.tracebook.json', { namespace: 'open' })
  session('s-5', app, 'e')
  assert.is((await sync()).summary.held, 4)
  assert.is((await sync({ yes: true })).summary.synced, 4)
  assert.is((await sync()).summary.held, 4)
})

test('sync asks before a rule makes new sessions public, each time', async (world) => {
  const { repository, git, session, sync, stored } = world
  const app = repository('app')
  git(app, 'config', 'tracebook.visibility', 'public')
  session('s-1', app, 'Add a parser', 'b')
  assert.equal([(await sync()).summary.exitCode, stored()], [2, {}])
  assert.equal([(await sync({ answers: [false] })).summary.held, stored()], [1, {}])
  const { questions, summary } = await sync({ answers: [true] })
  for (const part of [
    /^This session will be public/,
    /Add a parser/,
    /2 messages, secrets taken out/,
    /git config of .*app/,
  ])
    assert.match(questions[0]!, part)
  assert.equal([summary.synced, stored()], [1, { 's-1': 'user-1 public' }])
  session('s-1', app, 'Add a parser', 'b', 'c')
  session('s-2', app, 'd')
  const later = await sync()
  assert.equal([later.summary.synced, later.summary.held, stored()], [1, 1, { 's-1': 'user-1 public' }])
  await sync({ yes: true })
  assert.equal(stored(), { 's-1': 'user-1 public', 's-2': 'user-1 public' })
})

test('sync does not publish a trace again that was made private after a rule made it public, even with --force', async (world) => {
  const { repository, git, session, sync, server, stored } = world
  const app = repository('app')
  git(app, 'config', 'tracebook.visibility', 'public')
  session('s-1', app, 'a')
  await sync({ yes: true })
  server.traces[0]!.fields['visibility'] = 'private'
  session('s-1', app, 'a', 'b')
  await sync()
  assert.equal(stored(), { 's-1': login })
  server.traces.length = 0
  await sync({ force: true })
  assert.equal(stored(), { 's-1': login })
})

test('sync --visibility public asks only about sessions that are not public yet', async (world) => {
  const { session, sync, stored } = world
  session('s-1', '/w/app', 'first')
  await sync()
  const asked = { visibility: 'public' } as const
  assert.equal([(await sync({ asked })).summary.exitCode, stored()], [2, { 's-1': login }])
  const first = await sync({ asked, answers: [true] })
  assert.equal([first.questions.length, stored()], [1, { 's-1': 'user-1 public' }])
  session('s-2', '/w/app', 'two')
  session('s-empty', '/w/app')
  const second = await sync({ asked, answers: [true] })
  assert.match(second.questions[0]!, /two/)
  assert.not.match(second.questions[0]!, /first|s-empty/)
  assert.equal([second.summary.exitCode, second.summary.empty], [0, 1])
  const third = await sync({ asked, answers: [] })
  assert.equal([third.questions, third.summary.exitCode], [[], 0])
})

test('sync asks again if the file of a public session now holds another session', async (world) => {
  const { session, sync, stored } = world
  const path = session('s-1', '/w/app', 'first')
  const asked = { visibility: 'public' } as const
  await sync({ asked, answers: [true] })
  renameSync(session('s-2', '/w/app', 'not for others'), path)
  const { questions } = await sync({ asked, answers: [false] })
  assert.match(questions[0]!, 'not for others')
  assert.equal(stored(), { 's-1': 'user-1 public' })
})

test('the question shows the redacted text, and says if secrets are not redacted', async (world) => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  world.session('s-1', '/w/app', `my token is ${secret}`)
  const asked = { visibility: 'public' } as const
  const { questions } = await world.sync({ asked, answers: [false] })
  assert.not.match(questions[0]!, secret)
  assert.match(questions[0]!, 'secrets taken out')
  assert.match((await world.sync({ asked, answers: [false], redacts: false })).questions[0]!, 'SECRETS NOT TAKEN OUT')
})

test('sync keeps a session private if a cloned file says so, whatever the command line says', async (world) => {
  const { repository, git, write, session, sync, stored } = world
  const app = repository('app')
  write('app/.tracebook.json', { visibility: 'private' })
  git(app, 'config', 'tracebook.visibility', 'public')
  session('s-1', app, 'a')
  await sync({ asked: { visibility: 'public' }, yes: true })
  assert.equal(stored(), { 's-1': login })
})

test('a cloned file that sets a namespace and public needs two agreements, and nothing is sent before the second', async (world) => {
  const { repository, write, session, sync, stored } = world
  write('app/.tracebook.json', { namespace: 'acme', visibility: 'public' })
  session('s-1', repository('app'), 'a')
  const half = await sync({ answers: [true, false] })
  assert.equal([half.questions.length, stored()], [2, {}])
  const whole = await sync({ answers: [true] })
  assert.equal([whole.questions.length, stored()], [1, { 's-1': 'acme public' }])
})

test('a session whose rule is unreadable, or names a namespace closed to the user, fails; the others are sent', async (world) => {
  const { home, repository, git, write, session, sync, stored } = world
  const [closed, missing, broken] = [repository('closed'), repository('missing'), repository('broken')]
  git(closed, 'config', 'tracebook.namespace', 'closed')
  git(missing, 'config', 'tracebook.namespace', 'missing')
  write('broken/.tracebook.json', '{"never": tru}')
  for (const [id, path] of Object.entries({ closed, missing, broken, other: home })) session(`s-${id}`, path, id)
  const { summary, events } = await sync()
  assert.equal([summary.failed, summary.synced, summary.exitCode], [3, 1, 1])
  assert.equal(stored(), { 's-other': login })
  const problems = events.flatMap((event) => (event.type === 'problem' ? [event.message] : [])).join('\n')
  assert.match(problems, /git config of .*closed: You are not a member of the namespace "closed"/)
  assert.match(problems, /git config of .*missing: There is no namespace "missing"/)
  assert.match(problems, /broken\/\.tracebook\.json: /)
})

test('a dry run reports which sessions would be held or excluded, asks nothing and stores nothing', async (world) => {
  const { home, repository, git, write, session, sync, stored } = world
  const [app, secret, open] = [repository('app'), repository('secret'), repository('open')]
  write('app/.tracebook.json', { namespace: 'acme' })
  write('secret/.tracebook.json', { never: true })
  git(open, 'config', 'tracebook.visibility', 'public')
  for (const [id, path] of Object.entries({ app, secret, open })) session(`s-${id}`, path, id)
  const { summary, events, questions } = await sync({ dryRun: true, answers: [] })
  assert.equal([questions, stored(), summary.exitCode], [[], {}, 0])
  assert.equal(
    Object.values(outcomes(events, home))
      .map((text) => text.split(':')[0])
      .sort(),
    ['excluded', 'held', 'synced'],
  )
  rmSync(secret, { recursive: true })
  assert.is((await sync({ dryRun: true })).summary.excluded, 0)
})

test('a project’s path that holds a secret selects the rules, and is sent redacted', async (world) => {
  const { home, session, sync, stored, write, server } = world
  const folder = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  write(`${folder}/.tracebook.json`, { never: true })
  session('s-1', join(home, folder), 'a')
  assert.equal([(await sync()).summary.excluded, stored()], [1, {}])
  rmSync(join(home, folder, '.tracebook.json'))
  await sync()
  assert.match(server.traces[0]!.fields['projectPath']!, '[redacted:')
})

test('sync adds the repository’s remote, without credentials, and its commit; the branch is the one that the agent stored', async (world) => {
  const { repository, git, session, sync, server } = world
  const app = repository('app')
  git(app, 'remote', 'add', 'origin', 'https://ada:hunter2@git.example/acme/app.git')
  git(app, 'switch', '--quiet', '--create', 'today')
  session('s-1', app, 'a')
  await sync()
  const { gitRemoteUrl, gitBranch, gitRef } = server.traces[0]!.fields
  assert.equal(
    [gitRemoteUrl, gitBranch, gitRef],
    ['https://git.example/acme/app.git', 'main', git(app, 'rev-parse', 'HEAD').trim()],
  )
})

test('a session of a deleted project whose rule said never is not sent', async (world) => {
  const { repository, write, session, sync, stored } = world
  const app = repository('app')
  write('app/.tracebook.json', { never: true })
  session('s-1', app, 'a')
  await sync()
  rmSync(app, { recursive: true })
  session('s-1', app, 'a', 'b')
  assert.equal([(await sync()).summary.excluded, stored()], [1, {}])
})

test('a worktree belongs to its repository, also once its folder is gone, and a further sync sends nothing', async (world) => {
  const { home, repository, git, session, sync, server } = world
  const shop = repository('shop')
  git(shop, 'remote', 'add', 'origin', 'https://ada:pass@git.example/acme/store.git')
  const feature = join(home, 'feature')
  git(shop, 'worktree', 'add', '--quiet', '-b', 'feat/login', feature)
  const commit = git(shop, 'rev-parse', 'HEAD').trim()
  // Claude Code stores the branch itself.
  session('s-1', feature, 'a')
  await sync()
  const fields = () => {
    const { projectName, gitRemoteUrl, gitBranch, gitRef } = server.traces[0]!.fields
    return [projectName, gitRemoteUrl, gitBranch, gitRef]
  }
  const known = ['shop', 'https://git.example/acme/store.git', 'main', commit]
  assert.equal(fields(), known)
  assert.equal((await sync()).summary.unchanged, 1)
  git(shop, 'worktree', 'remove', feature)
  session('s-1', feature, 'a', 'b')
  assert.is((await sync()).summary.messages, 1)
  assert.equal(fields(), known)
})

test.run()
