import { once } from 'node:events'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../src/client/agents/index.ts'
import { type CommandContext, documents, newCommandContext, run } from './support/commands.ts'
import { start } from './support/command-process.ts'
import { refusal } from './support/service-world.ts'
import { userLine, writeSession } from './support/session-file.ts'

const test = suite<CommandContext>('the commands login and sync')
const session = '5e550000-0000-4000-8000-000000000001'

test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

test('sync without a login exits with 2 and says what to do', async (context) => {
  const { code, out, err } = await run(context, 'sync')
  assert.equal([code, out], [2, ''])
  assert.match(err, /Not logged in to http.* Run: (npx )?tracebook login/)
  const json = await run(context, 'sync', '--json')
  assert.equal(
    documents(json.out).map(({ type, exitCode }) => [type, exitCode]),
    [['error', 2]],
  )
})

test('without a terminal, login --codehost requires --yes, and sends no request', async (context) => {
  const { code, out, err } = await run(context, 'login', '--codehost')
  assert.equal([code, out], [2, ''])
  assert.match(err, /has to be confirmed, and there is no terminal: run this in a terminal, or use --yes/)
  assert.is(context.server.requests.length, 0)
  assert.match((await run(context, 'login', '--help')).out, 'without a terminal, --yes is required')
  assert.is((await run(context, 'login', '--yes')).code, 2)
})

test('login prints the user and the next command; sync then prints what it uploaded', async (context) => {
  const login = await run(context, 'login')
  assert.is(login.code, 0)
  assert.match(
    login.out,
    /Logged in to http.* as user .*, namespace user-1\.\nNext, upload your sessions: .*tracebook sync/,
  )
  const first = await run(context, 'sync')
  assert.is(first.code, 0, first.err)
  assert.match(first.out, /\nsynced 2 sessions: 6 messages \(6 new\)\n$/)
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
  const titles = context.server.traces.map(({ externalId, fields }) => [externalId, fields['title']])
  assert.equal(
    titles.sort(),
    [
      ['agent-a1b2c3d4', 'Search the repository'],
      [session, 'Add a parser test'],
    ].sort(),
  )
  assert.not.match(JSON.stringify(context.server.requests), /c2lnbmF0dXJl|trackedFileBackups|bash_progress/)
})

test('commands without --server use the server of the login, also under another name of this machine', async (context) => {
  const nowhere = { ...context, server: { ...context.server, url: '' } }
  const byName = context.server.url.replace('127.0.0.1', 'localhost')
  const { out } = await run(nowhere, 'login', '--server', byName)
  assert.match(out, 'Commands without --server use this server from now on.\nNext, upload your sessions: ')
  assert.is((await run(nowhere, 'sync')).code, 0)
  assert.is((await run(context, 'sync')).out, 'nothing was sent: 2 sessions unchanged\n')
  assert.is(context.server.users.size, 1)
})

test('login reports that TRACEBOOK_URL names another server', async (context) => {
  const elsewhere = { ...context, server: { ...context.server, url: 'https://other.example' } }
  const { out } = await run(elsewhere, 'login', '--server', context.server.url)
  assert.match(out, 'TRACEBOOK_URL names another server, https://other.example')
  assert.match(out, `sync --server ${context.server.url}\n`)
})

test('sync --json prints one document a line, and the summary last', async (context) => {
  await run(context, 'login')
  const file = writeSession(context.home, 's-1.jsonl', [userLine('u-1', 'a'), '{"cut":'])
  const { code, out, err } = await run(context, 'sync', '--json', file)
  assert.equal([code, err], [0, ''])
  const found = documents(out)
  assert.equal(
    found.map(({ type }) => type),
    ['start', 'problem', 'session', 'summary'],
  )
  assert.equal([found[1]?.['kind'], found[1]?.['line'], found[2]?.['status']], ['line_skipped', 2, 'synced'])
  const { exitCode, synced, skippedLines, new: created } = found[3]!
  assert.equal({ exitCode, synced, skippedLines, created }, { exitCode: 0, synced: 1, skippedLines: 1, created: 1 })
})

test('a malformed line is reported on stderr with its file and line', async (context) => {
  await run(context, 'login')
  const file = writeSession(context.home, 's-1.jsonl', [userLine('u-1', 'a'), '{"cut":'])
  const { code, out, err } = await run(context, 'sync', '--strict', file)
  assert.is(code, 1)
  assert.is(err, `${file}:2: not one JSON object: 7 bytes left out\n`)
  assert.match(out, /synced 1 session: 1 message \(1 new\), 1 line skipped \(7 bytes\)\n$/)
})

test('wrong usage of sync and login exits with 2, and --help exits with 0', async (context) => {
  for (const args of [
    ['sync', '--visibility', 'secret'],
    ['sync', '--nonsense'],
    ['sync', '/no/such/path'],
    ['login', 'x'],
  ])
    assert.is((await run(context, ...args)).code, 2, args.join(' '))
  assert.is((await run(context, 'sync', '--server', 'nonsense')).code, 2)
  const { code, out } = await run(context, 'sync', '--help')
  assert.is(code, 0)
  for (const word of ['--dry-run', '--json', '"summary"', 'Exit codes', 'TRACEBOOK_URL']) assert.match(out, word)
})

test('the help of sync names each agent, and each variable that tells where its sessions are', async (context) => {
  const { out } = await run(context, 'sync', '--help')
  const asked = new Set<string>()
  const env = new Proxy({}, { get: (_target, name) => void asked.add(String(name)) })
  for (const { name, roots } of agents) {
    roots(env, '/home/ada')
    assert.ok(out.split(/\s+/).join(' ').includes(` ${name}`), name)
  }
  assert.ok(asked.size >= agents.length)
  for (const name of asked) assert.match(out, name)
})

test('without a terminal, sync makes sessions public only with --yes', async (context) => {
  await run(context, 'login')
  const refused = await run(context, 'sync', '--visibility', 'public')
  assert.equal([refused.code, context.server.traces.length], [2, 0])
  assert.match(refused.err, /--visibility public asks for confirmation.*--yes/)
  assert.is((await run(context, 'sync', '--visibility', 'public', '--dry-run')).code, 0)
  assert.is((await run(context, 'sync', '--visibility', 'public', '--yes')).code, 0)
  assert.equal(
    context.server.traces.map(({ fields }) => fields['visibility']),
    ['public', 'public'],
  )
})

test('invalid rules of the user are reported once, before anything is sent', async (context) => {
  await run(context, 'login')
  writeFileSync(join(context.home, 'config', 'tracebook.json'), '{"exclude": ["clients"]}')
  const { code, out, err } = await run(context, 'sync', '--json')
  assert.equal([code, err, documents(out).map(({ type }) => type)], [2, '', ['error']])
  assert.match(out, /config\/tracebook\.json: .*clients.* must begin with/)
})

test('sync exits with 2 if its token has expired', async (context) => {
  await run(context, 'login')
  context.server.sessions.clear()
  const { code, err } = await run(context, 'sync')
  assert.is(code, 2)
  assert.match(err, /Log in again: (npx )?tracebook login/)
})

test('sync exits with 1, and says why, if the server asks it to wait too long', async (context) => {
  await run(context, 'login')
  context.server.fault = ({ method }) => (method === 'PUT' ? refusal(503, { 'retry-after': '600' }) : undefined)
  const { code, err } = await run(context, 'sync')
  assert.is(code, 1)
  assert.match(err, /stopped early: .*asks to wait 10 minutes/)
})

test('sync exits with 0 for a folder without sessions', async (context) => {
  await run(context, 'login')
  mkdirSync(join(context.home, 'empty'))
  const { code, out, err } = await run(context, 'sync', join(context.home, 'empty'))
  assert.equal([code, out], [0, 'nothing was sent\n'])
  assert.match(err, /No session files in .*empty/)
})

test('after kill -9 during a sync, the next run repeats at most the requests that were in flight', async (context) => {
  await run(context, 'login')
  const file = writeSession(context.home, 's-1.jsonl', [])
  for (let i = 0; i < 3_000; i++) appendFileSync(file, `${userLine(`u-${i}`, `message ${i}`)}\n`)
  const child = start(context, 'sync', file)
  let seen = 0
  context.server.fault = ({ path }) => {
    if (path.endsWith('/batch') && ++seen === 12) child.kill('SIGKILL')
    return undefined
  }
  await once(child, 'close')
  assert.is(child.signalCode, 'SIGKILL')
  context.server.fault = () => undefined
  context.server.requests.length = 0
  const { code } = await run(context, 'sync', file)
  assert.is(code, 0)
  // Of the first 12 batches at most 8 were on their way, and 3 were still to come.
  assert.ok(context.server.writes().length <= 11, context.server.writes().join('\n'))
  assert.is(context.server.traces[0]?.messages.size, 3_000)
})

test.run()
