import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../src/client/agents/support/sqlite/load.ts'
import { digest } from '../../src/client/digest.ts'
import { allCredentials, type Credentials } from '../../src/client/login/credentials.ts'
import { STATE_FILE } from '../../src/client/state/state-file.ts'
import { type CommandContext, documents, newCommandContext, run } from './support/commands.ts'
import { userLine, writeSession } from './support/session-file.ts'

// Files as commit f1dfc2c8 wrote them: logins without a log, rules agreed to by address, and notes in version 5 of their tables.
const test = suite<CommandContext>('what a version before the first release has stored')
test.before.each(async (context) => void Object.assign(context, await newCommandContext()))
test.after.each(({ close }) => close())

const TABLES = `
  CREATE TABLE destination (
    id INTEGER PRIMARY KEY AUTOINCREMENT, server TEXT NOT NULL, namespace TEXT NOT NULL, log TEXT,
    UNIQUE (server, namespace));
  CREATE TABLE session (
    id INTEGER PRIMARY KEY, destination INTEGER NOT NULL REFERENCES destination ON DELETE CASCADE,
    agent TEXT NOT NULL, session TEXT NOT NULL, trace TEXT NOT NULL, status TEXT NOT NULL, fields TEXT NOT NULL,
    sent_from TEXT,
    UNIQUE (destination, agent, session));
  CREATE TABLE source (
    destination INTEGER NOT NULL REFERENCES destination ON DELETE CASCADE, source TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE, stamp TEXT, resume TEXT,
    UNIQUE (destination, source));
  CREATE INDEX source_of_session ON source (session);
  CREATE TABLE message (
    session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE, id INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (session, id)) WITHOUT ROWID;
  CREATE TABLE origin (source TEXT PRIMARY KEY, stamp TEXT NOT NULL, project TEXT) WITHOUT ROWID;
  CREATE TABLE told (agent TEXT NOT NULL, loss TEXT NOT NULL, PRIMARY KEY (agent, loss)) WITHOUT ROWID;
  CREATE TABLE claim (source TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE last_write (server TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;
  PRAGMA user_version = 5;`

const configOf = ({ home }: CommandContext) => join(home, 'config')

/** Writes the login as it was written then, and gives it. */
const logIn = async (context: CommandContext): Promise<Credentials> => {
  assert.is((await run(context, 'login')).code, 0)
  const [stored] = allCredentials(configOf(context))
  const { log: _, name: __, ...login } = stored!
  const folder = join(configOf(context), 'servers')
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  writeFileSync(join(folder, `${digest(context.server.url)}.json`), `${JSON.stringify(login, null, 2)}\n`)
  return login
}

/** Writes notes that say that a session was sent, of which the service has nothing. */
const writeNotes = (context: CommandContext, namespace: string, file: string): void => {
  const data = join(configOf(context), 'data')
  mkdirSync(data, { recursive: true })
  const database = openDatabase(join(data, STATE_FILE))
  database.exec(TABLES)
  const add = (sql: string, ...values: readonly (string | number)[]) => database.prepare(sql).run(...values)
  add('INSERT INTO destination VALUES (1, ?, ?, ?)', context.server.url, namespace, context.server.logId)
  add(`INSERT INTO session VALUES (1, 1, 'claude-code', 's-1', 's-1', 'stored', '[]', ?)`, file)
  add(`INSERT INTO source VALUES (1, ?, 1, 'a stamp', NULL)`, file)
  add(`INSERT INTO message VALUES (1, 4658657977861312, x'3C7903D3202F7E1CFFBFF27BB32E7A50')`)
  database.close()
}

const writeOne = (context: CommandContext, cwd: string): string => {
  const folder = join(context.claude, 'projects', '-w-app')
  mkdirSync(folder, { recursive: true })
  return writeSession(folder, 's-1.jsonl', [userLine('u-1', 'hello', { cwd })])
}

test('a login goes on, and notes of what was sent are made anew', async (context) => {
  const { server } = context
  const { login } = await logIn(context)
  const file = writeOne(context, '/w/app')
  writeNotes(context, login!.namespaceId, file)
  server.requests.length = 0
  assert.is((await run(context, 'sync', file)).code, 0)
  assert.not(server.writes().includes('POST /v1/session'))
  assert.ok(server.requests.every(({ token }) => token === undefined || token === login!.token))
  assert.equal(
    server.traces.map(({ externalId, messages }) => [externalId, messages.size]),
    [['s-1', 1]],
  )
  assert.is((await run(context, 'sync', file)).out, 'nothing was sent: 1 session unchanged\n')
})

test('a rule of a cloned file that was agreed to needs no new answer', async (context) => {
  const { server, home } = context
  const { login } = await logIn(context)
  server.addNamespace('team', { [login!.userId]: 'admin' })
  const app = join(realpathSync(home), 'app')
  const rule = JSON.stringify({ namespace: 'team' })
  mkdirSync(app)
  writeFileSync(join(app, '.tracebook.json'), rule)
  const agreed = { server: server.url.replace('127.0.0.1', 'localhost'), anchor: app, hash: hashOf(rule) }
  writeFileSync(join(configOf(context), 'trusted-rules.json'), JSON.stringify({ version: 1, agreed: [agreed] }))
  const { code, out } = await run(context, 'sync', '--json', writeOne(context, app))
  assert.equal([code, documents(out).find(({ type }) => type === 'session')?.['namespace']], [0, 'team'])
})

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

test('a file of logins that cannot be read is refused by its name with exit code 1, and stays', async (context) => {
  await logIn(context)
  const folder = join(configOf(context), 'servers')
  const file = join(folder, readdirSync(folder)[0]!)
  const text = readFileSync(file, 'utf8').replace('"deviceId"', '"device"')
  writeFileSync(file, text)
  for (const command of ['sync', 'login', 'whoami']) {
    const { code, err } = await run(context, command)
    assert.is(code, 1, command)
    assert.ok(err.includes(`${file} is no login that this version of tracebook can read`), err)
  }
  assert.is(readFileSync(file, 'utf8'), text)
})

test.run()
