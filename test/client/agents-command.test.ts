import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../src/client/agents/index.ts'
import { opencodeDatabase, text, userInfo } from './agents/opencode/database-file.ts'
import { type CommandContext, documents, newCommandContext, run } from './support/commands.ts'
import { userLine } from './support/session-file.ts'

const test = suite<CommandContext>('the command agents')

test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

/** Two sessions of opencode in one database. */
const addDatabase = ({ home }: CommandContext): string => {
  const folder = join(home, '.local', 'share', 'opencode')
  mkdirSync(folder, { recursive: true })
  const database = opencodeDatabase(join(folder, 'opencode.db'))
  for (const id of ['ses_1', 'ses_2']) {
    database.session(id)
    database.message(id, `msg_${id}`, userInfo)
    database.part(id, `msg_${id}`, `prt_${id}`, text('Hello'))
  }
  database.close()
  return folder
}

const firstSession = ({ claude }: CommandContext): string =>
  join(claude, 'projects', '-w-app', '5e550000-0000-4000-8000-000000000001.jsonl')

/** What `--json` gives of an agent. */
const agentIn = (out: string, id: string) => documents(out).find((one) => one['id'] === id)

test('without a login, agents counts the sessions of each agent and says where they are', async (context) => {
  const folder = addDatabase(context)
  const { code, out, err } = await run(context, 'agents')
  assert.is(code, 0)
  for (const { name } of agents) assert.ok(`\n${out}`.includes(`\n${name}: `), name)
  assert.match(out, `Claude Code: 2 sessions in 2 files\n  ${join(context.claude, 'projects')}\nCodex: not found\n`)
  assert.match(out, `opencode: 2 sessions in 1 file\n  ${folder}\n`)
  assert.ok(out.endsWith('All: 4 sessions in 3 files\n'), out)
  assert.match(
    err,
    /^Not logged in to http.*, so it is not known what was sent\. To log in, run: .*login --server http/,
  )
  assert.is(context.server.requests.length, 0)
})

test('with a login, agents distinguishes new, changed and unchanged sessions without a request to the server', async (context) => {
  addDatabase(context)
  await run(context, 'login')
  assert.match((await run(context, 'agents')).out, /\nAll: 4 sessions in 3 files: 4 new\n$/)
  assert.is((await run(context, 'sync')).code, 0)
  appendFileSync(firstSession(context), `${userLine('u-new', 'One more')}\n`)
  writeFileSync(join(context.claude, 'projects', '-w-app', 's-2.jsonl'), `${userLine('u-1', 'Hello')}\n`)
  context.server.requests.length = 0
  const { code, out, err } = await run(context, 'agents')
  assert.equal([code, err, context.server.requests.length], [0, '', 0])
  assert.match(out, /Claude Code: 3 sessions in 3 files: 1 new, 1 changed, 1 unchanged\n/)
  assert.match(out, /opencode: 2 sessions in 1 file: 2 unchanged\n/)
})

test('agents --json prints a document for each agent, and the summary last', async (context) => {
  await run(context, 'login')
  const { code, out } = await run(context, 'agents', '--json')
  assert.is(code, 0)
  assert.equal(
    documents(out).map(({ type }) => type),
    [...agents.map(() => 'agent'), 'summary'],
  )
  const desktop = ['Library/Application Support', '.config', 'AppData/Roaming'].map((folder) => ({
    path: join(context.home, folder, 'Claude', 'local-agent-mode-sessions'),
    exists: false,
  }))
  assert.equal(agentIn(out, 'claude-code'), {
    type: 'agent',
    id: 'claude-code',
    name: 'Claude Code',
    places: [{ path: join(context.claude, 'projects'), exists: true }, ...desktop],
    files: 2,
    sessions: 2,
    new: 2,
    changed: 0,
    unchanged: 0,
    ruled: [],
    expiring: { sessions: 0, unsent: 0 },
    linked: [],
  })
  assert.equal(documents(out).at(-1), {
    type: 'summary',
    server: context.server.url,
    namespace: 'user-1',
    files: 2,
    sessions: 2,
    new: 2,
    changed: 0,
    unchanged: 0,
    expiring: { sessions: 0, unsent: 0 },
    linked: [],
    unreadable: 0,
    exitCode: 0,
  })
})

test('sessions that rules keep from the namespace of the login are listed separately, with the reason', async (context) => {
  const { home, claude } = context
  await run(context, 'login')
  const [app, acme] = [join(home, 'app'), join(home, 'acme')]
  for (const [folder, rule] of [
    [app, { never: true }],
    [acme, { namespace: 'acme' }],
  ] as const) {
    mkdirSync(folder)
    writeFileSync(join(folder, '.tracebook.json'), JSON.stringify(rule))
    const session = userLine('u-1', 'Hello', { cwd: folder, sessionId: `s-${rule}` })
    writeFileSync(join(claude, 'projects', '-w-app', `s-${folder.slice(-3)}.jsonl`), `${session}\n`)
  }
  assert.match((await run(context, 'agents')).out, /All: 4 sessions in 4 files: 4 new\n$/)
  const dry = await run(context, 'sync', '--dry-run')
  assert.match(dry.err, /1 session not sent: never sent, says .*app\/\.tracebook\.json\n/)
  assert.match(dry.out, /1 session not to be sent, 1 session not sent without your agreement\n$/)
  assert.is((await run(context, 'sync')).code, 2)
  const { code, out } = await run(context, 'agents')
  assert.is(code, 0)
  assert.match(out, /Claude Code: 4 sessions in 4 files: 2 unchanged, 1 excluded, 1 held until you confirm\n/)
  assert.match(out, /\n {2}1 session: never sent, says .*app\/\.tracebook\.json\n/)
  assert.match(
    out,
    /\n {2}1 session: .*acme\/\.tracebook\.json sends it to the namespace acme, to which you have to agree\n/,
  )
  const { ruled } = agentIn((await run(context, 'agents', '--json')).out, 'claude-code')!
  assert.equal(
    (ruled as { status: string; sessions: number }[]).map(({ status, sessions }) => [status, sessions]).sort(),
    [
      ['excluded', 1],
      ['held', 1],
    ],
  )
})

test('a session in several files is excluded if any of them is', async (context) => {
  const { home, claude } = context
  await run(context, 'login')
  const [first, second] = ['-w-app', '-w-other'].map((folder) => {
    mkdirSync(join(claude, 'projects', folder), { recursive: true })
    const file = join(claude, 'projects', folder, '0f3a1c52-1111-4222-8333-444455556666.jsonl')
    writeFileSync(file, `${userLine(`u${folder}`, 'Hello', { sessionId: '0f3a1c52-1111-4222-8333-444455556666' })}\n`)
    return file
  })
  for (const excluded of [first, second]) {
    writeFileSync(join(home, 'config', 'tracebook.json'), JSON.stringify({ exclude: [excluded] }))
    assert.match((await run(context, 'agents')).out, /Claude Code: 3 sessions in 4 files: 2 new, 1 excluded\n/)
  }
})

test('a database that cannot be read is named, adds no sessions to the count, and makes agents exit with 1', async (context) => {
  const damaged = join(addDatabase(context), 'opencode-dev.db')
  writeFileSync(damaged, 'damaged'.repeat(1_000))
  const { code, out, err } = await run(context, 'agents')
  assert.is(code, 1)
  assert.match(out, /opencode: 2 sessions in 2 files\n/)
  assert.match(err, `${damaged}: the database cannot be read`)
  const problem = documents((await run(context, 'agents', '--json')).out).find(({ type }) => type === 'problem')
  assert.equal([problem?.['kind'], problem?.['file']], ['unreadable', damaged])
})

test('wrong usage exits with 2', async (context) => {
  assert.is((await run(context, 'agents', 'x')).code, 2)
  assert.is((await run(context, 'agents', '--server', 'nonsense')).code, 2)
})

test.run()
