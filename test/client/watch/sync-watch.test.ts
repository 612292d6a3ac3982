import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../../support/until.ts'
import { opencodeDatabase, text, userInfo } from '../agents/opencode/database-file.ts'
import { meta, prompt, uuidAt } from '../support/codex-file.ts'
import { newApiClient } from '../../../src/client/api/client.ts'
import { allCredentials, moveCredentials } from '../../../src/client/login/credentials.ts'
import { startProxy } from '../../commands/support/proxy.ts'
import { openDatabase } from '../../../src/client/agents/support/sqlite/load.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import { type CommandContext, newCommandContext, run } from '../support/commands.ts'
import { refusal } from '../support/service-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { startWatching, type Watching } from '../support/watching.ts'

const test = suite<CommandContext & { watching: Watching[] }>('sync --watch')
const session = '5e550000-0000-4000-8000-000000000001'

test.before.each(async (context) => {
  Object.assign(context, await newCommandContext(), { watching: [] })
  assert.is((await run(context, 'login')).code, 0)
})
test.after.each(async ({ close, watching }) => {
  for (const { end } of watching) await end('SIGKILL')
  await close()
})

const watch = async (context: CommandContext & { watching: Watching[] }, ...args: readonly string[]) => {
  const watching = startWatching(context, ...args)
  context.watching.push(watching)
  await watching.isWatching()
  return watching
}

const project = ({ claude }: CommandContext) => join(claude, 'projects', '-w-app')
const fileOf = (context: CommandContext) => join(project(context), `${session}.jsonl`)
const added = (id: string, more = {}) => `${userLine(id, `line ${id}`, { sessionId: session, ...more })}\n`

/** The texts that the server has of a session. */
const stored = ({ server }: CommandContext, id: string): readonly string[] => {
  const messages = server.traces.find(({ externalId }) => externalId === id)?.messages.values() ?? []
  return [...messages].flatMap(({ parts }) => parts.map(({ content }) => String(content['text'])))
}
const isStored = (context: CommandContext, id: string, value: string) =>
  until(() => stored(context, id).includes(value))

const batches = ({ server }: CommandContext) => server.writes().filter((write) => write.endsWith('/batch'))

test('a watch uploads existing sessions, then each new line, and nothing else', async (context) => {
  const watching = await watch(context)
  assert.equal(
    watching.of('watching').map(({ sessions }) => sessions),
    [2],
  )
  const before = batches(context).length
  appendFileSync(fileOf(context), added('u-new'))
  await isStored(context, session, 'line u-new')
  assert.is(batches(context).length, before + 1)
  assert.equal((await watching.end('SIGTERM')).how, 0)
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
})

test('if its state cannot be written, as on a full disk, a watch names the file once and waits until it can', async (context) => {
  const watching = await watch(context)
  const file = join(context.home, 'config', 'data', STATE_FILE)
  const database = openDatabase(file)
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  appendFileSync(fileOf(context), added('u-new'))
  await until(() => watching.of('problem').length > 0)
  const before = batches(context).length
  await until(() => batches(context).length > before)
  assert.equal(watching.of('problem'), [
    {
      type: 'problem',
      kind: 'state_failed',
      file,
      message: 'the disk is full: new messages are uploaded once this file can be written again',
    },
  ])
  database.exec('DROP TRIGGER full')
  database.close()
  await until(() => watching.of('notice').length > 0)
  assert.equal(watching.of('notice'), [{ type: 'notice', file, message: 'this file can be written again' }])
  assert.ok(stored(context, session).includes('line u-new'))
  assert.equal((await watching.end('SIGTERM')).how, 0)
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
})

test('a watch reports once a secret that was sent before the next line revealed it', async (context) => {
  const key = 'q7Zr4TnW2kXvB9mLpC3sJd8F'
  const say = (id: string, words: string) => `${userLine(id, words, { sessionId: session })}\n`
  const watching = await watch(context)
  appendFileSync(fileOf(context), say('u-bare', `it is ${key}`))
  await isStored(context, session, `it is ${key}`)
  appendFileSync(fileOf(context), say('u-told', `API_KEY=${key}`))
  await until(() => watching.of('notice').length > 0)
  appendFileSync(fileOf(context), say('u-next', `again ${key}`))
  await isStored(context, session, 'again [redacted:secret-value]')
  await watching.end('SIGTERM')
  const told = watching.of('notice').filter(({ message }) => `${message}`.includes('had been sent before'))
  assert.equal([told.map(({ externalId }) => externalId), watching.of('problem')], [[session], []])
})

test('a watch erases what it could not erase as soon as the service does, without a further change, and says once that it could not', async (context) => {
  const key = 'q7Zr4TnW2kXvB9mLpC3sJd8F'
  const say = (id: string, words: string) => `${userLine(id, words, { sessionId: session })}\n`
  const isErasure = (path: string) => path.endsWith('/history/erase')
  const watching = await watch(context)
  appendFileSync(fileOf(context), say('u-bare', `it is ${key}`))
  await isStored(context, session, `it is ${key}`)
  let asked = 0
  context.server.fault = ({ path }) => (isErasure(path) && ++asked <= 3 ? refusal(500) : undefined)
  appendFileSync(fileOf(context), say('u-told', `API_KEY=${key}`))
  await until(() =>
    watching
      .of('notice')
      .some(({ message }) => `${message}`.endsWith('the past of the trace, which had it, was erased')),
  )
  assert.is(asked, 4)
  assert.equal(
    watching.of('problem').map(({ kind }) => kind),
    ['secret_in_history'],
  )
})

test('lines that are written in quick succession are sent together', async (context) => {
  await watch(context)
  const before = batches(context).length
  for (let i = 0; i < 100; i++) appendFileSync(fileOf(context), added(`u-${i}`))
  await isStored(context, session, 'line u-99')
  assert.ok(batches(context).length - before < 10, `${batches(context).length - before} batches for 100 lines`)
})

test('a watch finds new sessions in new folders, also of an agent that is installed later, removed and installed again', async (context) => {
  await watch(context)
  mkdirSync(join(context.claude, 'projects', '-w-other', 'deep', 'er'), { recursive: true })
  writeSession(join(context.claude, 'projects', '-w-other', 'deep', 'er'), 's-2.jsonl', [
    userLine('u-2', 'in a new folder', { sessionId: 's-2' }),
  ])
  await isStored(context, 's-2', 'in a new folder')
  const codex = join(context.home, '.codex')
  for (const [time, words] of [
    ['2026-02-01T10:00:00Z', 'first'],
    ['2026-02-01T11:00:00Z', 'second'],
  ] as const) {
    const [id, folder] = [uuidAt(time), join(codex, 'sessions', '2026', '02', '01')]
    mkdirSync(folder, { recursive: true })
    const file = writeSession(folder, `rollout-2026-02-01T10-00-00-${id}.jsonl`, [meta(id), prompt(words)])
    await isStored(context, id, words)
    appendFileSync(file, `${prompt(`${words} again`)}\n`)
    await isStored(context, id, `${words} again`)
    rmSync(codex, { recursive: true })
  }
})

test('a watch continues with a file that was truncated, replaced, moved away, or deleted and created again', async (context) => {
  await watch(context)
  const file = fileOf(context)
  truncateSync(file)
  appendFileSync(file, added('u-cut'))
  await isStored(context, session, 'line u-cut')
  writeSession(project(context), 'replacement.tmp', [userLine('u-replaced', 'replaced', { sessionId: session })])
  renameSync(join(project(context), 'replacement.tmp'), file)
  await isStored(context, session, 'replaced')
  renameSync(file, `${file}.1`)
  appendFileSync(file, added('u-rotated'))
  await isStored(context, session, 'line u-rotated')
  rmSync(file)
  appendFileSync(file, added('u-again'))
  await isStored(context, session, 'line u-again')
  renameSync(project(context), `${project(context)}-moved`)
  mkdirSync(project(context))
  appendFileSync(file, added('u-folder'))
  await isStored(context, session, 'line u-folder')
})

test('a watch notices changes that opencode writes to the write-ahead log of its database', async (context) => {
  const folder = join(context.home, '.local', 'share', 'opencode')
  mkdirSync(folder, { recursive: true })
  const database = opencodeDatabase(join(folder, 'opencode.db'))
  database.project('p')
  database.session('ses_1')
  database.message('ses_1', 'msg_1', userInfo)
  database.part('ses_1', 'msg_1', 'prt_1', text('before'))
  await watch(context)
  assert.equal(stored(context, 'ses_1'), ['before'])
  database.message('ses_1', 'msg_2', userInfo)
  database.part('ses_1', 'msg_2', 'prt_2', text('while it is watched'))
  await isStored(context, 'ses_1', 'while it is watched')
  database.close()
})

test('an outage of the service is reported once, and so is its end; then everything is uploaded', async (context) => {
  const watching = await watch(context)
  const { server } = context
  server.fault = () => 'cut before'
  appendFileSync(fileOf(context), added('u-away'))
  await until(() => watching.of('connection').length > 0)
  const others = writeSession(project(context), 's-3.jsonl', [userLine('u-3', 'meanwhile', { sessionId: 's-3' })])
  const asked = server.requests.length
  await until(() => server.requests.length > asked)
  server.fault = () => undefined
  await isStored(context, session, 'line u-away')
  await isStored(context, 's-3', 'meanwhile')
  appendFileSync(others, `${userLine('u-4', 'after it', { sessionId: 's-3' })}\n`)
  await isStored(context, 's-3', 'after it')
  assert.equal(
    watching.of('connection').map(({ state }) => state),
    ['out of reach', 'back'],
  )
  assert.equal(watching.of('problem'), [])
})

test('a watch can start while the service is unreachable', async (context) => {
  context.server.fault = () => 'cut before'
  const watching = startWatching(context)
  context.watching.push(watching)
  await until(() => watching.of('connection').length > 0)
  context.server.fault = () => undefined
  await watching.isWatching()
  assert.ok(stored(context, session).length > 0)
})

test('a watch ends after its requests in flight are acknowledged, so that they are not sent again', async (context) => {
  const watching = await watch(context)
  const { server } = context
  server.fault = ({ path }) => {
    if (path.endsWith('/batch')) void watching.end('SIGTERM')
    return undefined
  }
  appendFileSync(fileOf(context), added('u-last'))
  assert.equal(await watching.ended, { how: 0, err: '' })
  const sent = batches(context).length
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
  assert.is(batches(context).length, sent)
})

test('a second watch says that one is running; a killed watch does not block the next one', async (context) => {
  const first = await watch(context)
  const second = await run(context, 'sync', '--watch')
  assert.is(second.code, 2)
  assert.match(
    second.err,
    new RegExp(`are already being watched for http\\S+, by process ${first.pid} since \\w{3} \\d+, 20`),
  )
  assert.match(
    (await run(context, 'status')).out,
    new RegExp(`\\nwatching {3}process ${first.pid}, since \\w{3} \\d+, 20`),
  )
  const watchers = await Promise.all(
    [['status'], ['watch', 'status']].map(async (words) => {
      const { watcher } = JSON.parse((await run(context, ...words, '--json')).out) as { watcher: { since: number } }
      return watcher
    }),
  )
  assert.equal(watchers[0], watchers[1])
  assert.type(watchers[0]!.since, 'number')
  await first.end('SIGKILL')
  assert.not.match((await run(context, 'status')).out, 'watching')
  await watch(context)
})

test('if the request for the login fails, status exits with 1; it exits with 2 only if the login has ended', async (context) => {
  const ready = { status: 200, body: { status: 'ready' } }
  context.server.fault = ({ path }) => (path === '/health/ready' ? ready : refusal(500))
  const { code, out } = await run(context, 'status')
  assert.is(code, 1)
  assert.match(out, /\nlogin {6}user \S+, not checked\n/)
  context.server.fault = ({ path }) => (path === '/health/ready' ? ready : refusal(401))
  assert.is((await run(context, 'status')).code, 2)
})

test('the end of the login ends a watch, with an error that says what to do', async (context) => {
  const watching = await watch(context)
  context.server.fault = () => refusal(401)
  appendFileSync(fileOf(context), added('u-401'))
  assert.is((await watching.ended).how, 2)
  assert.match(String(watching.of('error')[0]?.['message']), /Log in again: \S+( \S+)? login/)
})

test('a watch refuses options that cannot apply to future sessions', async (context) => {
  for (const [option, words] of [
    ['--dry-run', /--watch cannot be combined with --dry-run/],
    ['--force', /--watch cannot be combined with --force/],
    ['--yes', /--watch cannot be combined with --yes/],
    ['--visibility=public', /--watch makes nothing public/],
    ['--no-redact', /run it in a terminal/],
  ] as const) {
    const { code, err } = await run(context, 'sync', '--watch', option)
    assert.is(code, 2)
    assert.match(err, words)
  }
  assert.equal(context.server.writes(), ['POST /v1/session'])
})

test('a watch follows the rules of projects, asks no questions, and reports once which sessions are held', async (context) => {
  const never = join(context.home, 'never')
  const open = join(context.home, 'open')
  for (const [folder, rule] of [
    [never, { never: true }],
    [open, { visibility: 'public' }],
  ] as const) {
    mkdirSync(folder)
    writeFileSync(join(folder, '.tracebook.json'), JSON.stringify(rule))
  }
  const files = Object.entries({ never, open }).map(([name, cwd]) =>
    writeSession(project(context), `s-${name}.jsonl`, [userLine(`u-${name}`, 'x', { sessionId: `s-${name}`, cwd })]),
  )
  const watching = await watch(context)
  for (const file of files) appendFileSync(file, `${userLine('u-more', 'y', { cwd: never })}\n`)
  appendFileSync(fileOf(context), added('u-after'))
  await isStored(context, session, 'line u-after')
  assert.equal(
    watching
      .of('not_sent')
      .map(({ status, sessions }) => [status, sessions])
      .sort(),
    [
      ['excluded', 1],
      ['held', 1],
    ],
  )
  assert.not.match(JSON.stringify(context.server.traces), /s-never|s-open/)
})

test('a watch keeps no file open for a session, for any number of sessions', async (context) => {
  for (let folder = 0; folder < 10; folder++) {
    mkdirSync(join(context.claude, 'projects', `-w-${folder}`))
    for (let i = 0; i < 30; i++) {
      const id = `s-${folder}-${i}`
      writeSession(join(context.claude, 'projects', `-w-${folder}`), `${id}.jsonl`, [
        userLine(`u-${id}`, 'x', { sessionId: id }),
      ])
    }
  }
  const { pid } = await watch(context)
  if (process.platform === 'linux') assert.ok(readdirSync(`/proc/${pid}/fd`).length < 60)
})

test('a watch uploads everything again to a service that has lost its data or was replaced, and reports this', async (context) => {
  const watching = await watch(context)
  const before = context.server.traces.length
  assert.is(before, 2)
  context.server.traces.length = 0
  context.server.logId = 'another log'
  appendFileSync(fileOf(context), added('u-new'))
  await isStored(context, session, 'line u-new')
  await until(() => watching.of('watching').length === 2)
  assert.is(context.server.traces.length, before)
  assert.ok(stored(context, session).length > 1, 'also what was sent to the one before')
  assert.equal(
    watching.of('connection').map(({ state }) => state),
    ['replaced'],
  )
  assert.equal(
    watching.of('session').map(({ status }) => status),
    ['synced', 'synced', 'synced', 'synced'],
  )
  appendFileSync(fileOf(context), added('u-newer'))
  await isStored(context, session, 'line u-newer')
  assert.equal((await watching.end('SIGTERM')).how, 0)
})

test('a watch goes on at the new address of its service once the user has logged in there', async (context) => {
  const watching = await watch(context)
  const config = join(context.home, 'config')
  const [former] = allCredentials(config)
  const proxy = await startProxy(context.server.url)
  const { token: own } = await newApiClient(proxy.url).newSession({ deviceId: former!.deviceId })
  const moved = { ...former!, server: proxy.url, login: { ...former!.login!, token: own } }
  await moveCredentials(config, moved, former!)
  context.server.fault = ({ token }) => (token === own ? undefined : 'cut before')
  appendFileSync(fileOf(context), added('u-new'))
  await isStored(context, session, 'line u-new')
  await until(() => watching.of('watching').length === 2)
  assert.is(watching.of('start').at(-1)!['server'], proxy.url)
  assert.equal(watching.of('connection'), [], 'what was sent is not sent again')
  assert.equal((await watching.end('SIGTERM')).how, 0)
  await proxy.close()
})

test('a watch first uploads the lost messages again to a service restored from a backup, and reports this once', async (context) => {
  const { server } = context
  const watching = await watch(context)
  const lost = server.traces.pop()!
  server.positions.clear()
  appendFileSync(fileOf(context), added('u-new'))
  await isStored(context, session, 'line u-new')
  await until(() => watching.of('watching').length === 2)
  assert.ok(server.traces.some(({ externalId, messages }) => externalId === lost.externalId && messages.size > 0))
  assert.equal(
    watching.of('connection').map(({ state }) => state),
    ['replaced'],
  )
  assert.match(String(watching.of('connection')[0]?.['message']), /was restored from a backup/)
  assert.not(watching.of('session').some(({ status }) => status === 'deleted'))
  assert.equal((await watching.end('SIGTERM')).how, 0)
})

test('a watch keeps its state if another process noticed first that the service was restored', async (context) => {
  const { server } = context
  const watching = await watch(context)
  server.traces.pop()
  server.positions.clear()
  assert.match((await run(context, 'sync')).err, /was restored from a backup/)
  appendFileSync(fileOf(context), added('u-new'))
  await isStored(context, session, 'line u-new')
  await until(() => watching.of('watching').length === 2)
  assert.equal((await watching.end('SIGTERM')).how, 0)
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
})

/** A namespace `team` of which the user of the machine is a member, and how the user is removed. */
const newTeam = ({ server }: CommandContext) => {
  const [userId] = server.users.values()
  const team = server.addNamespace('team', { [userId!]: 'member' })
  const remove = () => void server.namespaces.find(({ id }) => id === team.id)!.roles.delete(userId!)
  return { id: team.id, remove }
}

test('when the user is removed from a namespace, a watch sends nothing of the projects of its rule to another one', async (context) => {
  const team = newTeam(context)
  writeFileSync(
    join(context.home, 'config', 'tracebook.json'),
    '{"projects": [{"path": "/w/app", "namespace": "team"}]}',
  )
  const watching = await watch(context)
  const inTeam = () => context.server.traces.filter(({ namespaceId }) => namespaceId === team.id).length
  assert.is(inTeam(), 2)
  team.remove()
  writeSession(project(context), 'late.jsonl', [userLine('u-late', 'late', { sessionId: 'late' })])
  await until(() => watching.of('problem').length > 0)
  assert.match(JSON.stringify(watching.of('problem')), 'you are no longer in @team')
  appendFileSync(fileOf(context), added('u-new'))
  await until(() => watching.of('problem').length > 1)
  assert.equal([context.server.traces.length, inTeam()], [2, 2])
  assert.equal((await watching.end('SIGTERM')).how, 0)
})

test('when the user is removed from the namespace of the login, a watch says so, and goes on in the one that is left', async (context) => {
  const team = newTeam(context)
  const { server } = context
  for (const [token, active] of server.sessions) server.sessions.set(token, { ...active, namespaceId: team.id })
  const watching = await watch(context)
  assert.equal(
    server.traces.map(({ namespaceId }) => namespaceId),
    [team.id, team.id],
  )
  team.remove()
  appendFileSync(fileOf(context), added('u-new'))
  await until(() => server.traces.length === 4)
  assert.equal(
    watching.of('connection').map(({ state, message }) => [state, message]),
    [['removed', 'you are no longer in @team: going on in @user-1']],
  )
  assert.equal((await watching.end('SIGTERM')).how, 0)
  const { err } = await run(context, 'sync')
  assert.match(err, 'you are no longer in @team: going on in @user-1')
  assert.is((await run(context, 'sync')).err, '')
})

test.run()
