import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cursor } from '../../../../src/client/agents/cursor/index.ts'
import { findSessionFiles } from '../../../../src/client/agents/session-files.ts'
import { stampOf } from '../../../../src/client/agents/support/files.ts'
import { readSession, readSessions } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'
import { otherProcess } from '../support/sqlite/other-process.ts'
import { cursorDatabase, typed } from './database-file.ts'
import { cursorStore, field, noted, numberField, query, text } from './store-file.ts'

const test = suite('databases of Cursor’s command line tool')
const { path: root, remove } = tempFolder()
test.after(remove)

const PROJECT = '0123456789abcdef0123456789abcdef'

let homes = 0

/** A home folder with an empty database of a session. */
const newHome = (session = 's-1', chats = join('.cursor', 'chats')) => {
  const home = join(root, String(++homes))
  const path = join(home, chats, PROJECT, session, 'store.db')
  const beside = (json: unknown) => writeFileSync(join(dirname(path), 'meta.json'), JSON.stringify(json))
  return { home, path, store: cursorStore(path), beside }
}

const found = async (home: string) =>
  (await findSessionFiles([cursor], [], { env: {}, home }, assert.unreachable)).map(({ path }) => path)

/** What was said, with the roles, and a star at calls and results. */
const saidIn = async (path: string) =>
  (await readSession(path, cursor)).messages.map(({ role, parts }) => [
    role,
    ...parts.map((part) => (part.type === 'text' || part.type === 'thinking' ? part.content.text : `*${part.type}`)),
  ])

test('the messages are the ones listed by the latest state, in its order (rule 13)', async () => {
  const { path, store } = newHome()
  const answer = store.message('assistant', [text('Hello.')], { id: '1' })
  const ids = [
    store.message('system', 'You are an agent.'),
    store.message('user', '<user_info>OS</user_info>'),
    store.message('user', [text('<open_files>a.ts</open_files>'), query('Say hello')]),
    answer,
  ]
  store.message('assistant', [text('of a branch that was given up')])
  store.blob('{"version":"1.0.0"}')
  store.blob('\n plain text')
  const state = store.root(ids, numberField(10, 300), field(5, numberField(1, 12_315)))
  store.meta(state)
  assert.equal(await saidIn(path), [
    ['user', 'Say hello'],
    ['assistant', 'Hello.'],
  ])
  const { session, messages, malformed } = await readSession(path, cursor)
  assert.is(session.externalId, 's-1')
  assert.equal(
    messages.map(({ externalId, order }) => [externalId, order]),
    [
      [ids[2], 3],
      [answer, 4],
    ],
  )
  assert.equal([session.skippedLines, malformed], [0, []])
  store.close()
})

test('blocks become parts, and results get the names of their tools (rule 14)', async () => {
  const { path, store } = newHome()
  const png = 'QUFB'.repeat(100)
  const ids = [
    store.message('user', [query('Look'), { type: 'image', image: png, mimeType: 'image/png' }]),
    store.message('assistant', [
      { type: 'redacted-reasoning', data: 'opaque' },
      { type: 'reasoning', text: 'Let me see.', signature: 'x', ...noted({ modelName: 'composer-2' }) },
      { type: 'tool-call', toolCallId: 't-1', toolName: 'Shell', args: { command: 'ls', big: 1 } },
      { type: 'tool-call', toolCallId: 't-2', toolName: 'Read', args: '/a' },
      { type: 'later', text: 'x' },
    ]),
    store.message('tool', [{ type: 'tool-result', toolCallId: 't-1', toolName: 'Shell', result: 'a.ts' }]),
    store.message('tool', [{ type: 'tool-result', toolCallId: 't-2', result: { lines: 3 } }], {
      ...noted({ highLevelToolCallResult: { isError: true } }),
    }),
    store.message('assistant', [text('Done.')], {
      createdAt: 1_790_000_000_000,
      ...noted({ modelName: 'composer-2' }),
    }),
    store.message('developer', 'a role that is not known'),
  ]
  store.meta(store.root(ids))
  const { session, messages, malformed } = await readSession(path, cursor)
  assert.equal(
    messages.map(({ role, model, timestamp, parts }) => ({ role, model, timestamp, parts })),
    [
      {
        role: 'user',
        model: undefined,
        timestamp: undefined,
        parts: [
          { type: 'text', content: { text: 'Look' } },
          { type: 'text', content: { text: '[image image/png 1 kB]' } },
        ],
      },
      {
        role: 'assistant',
        model: 'composer-2',
        timestamp: undefined,
        parts: [
          { type: 'thinking', content: { text: 'Let me see.' } },
          { type: 'tool_call', content: { callId: 't-1', toolName: 'Shell', args: { command: 'ls', big: 1 } } },
          { type: 'tool_call', content: { callId: 't-2', toolName: 'Read', args: { input: '/a' } } },
        ],
      },
      {
        role: 'user',
        model: undefined,
        timestamp: undefined,
        parts: [
          { type: 'tool_result', content: { callId: 't-1', toolName: 'Shell', output: 'a.ts', status: 'success' } },
        ],
      },
      {
        role: 'user',
        model: undefined,
        timestamp: undefined,
        parts: [
          { type: 'tool_result', content: { callId: 't-2', toolName: 'Read', output: '{"lines":3}', status: 'error' } },
        ],
      },
      {
        role: 'assistant',
        model: 'composer-2',
        timestamp: 1_790_000_000_000,
        parts: [{ type: 'text', content: { text: 'Done.' } }],
      },
    ],
  )
  assert.is(session.trace.model, 'composer-2')
  assert.equal(malformed, [])
  store.close()
})

test('ids and positions stay the same when the session grows, also for messages with the same text (rules 10 and 13)', async () => {
  const { path, store } = newHome()
  const again = store.message('user', [query('again')])
  const placesOf = async () =>
    (await readSession(path, cursor)).messages.map(({ externalId, order }) => [externalId, order])
  store.meta(store.root([again, again]))
  const before = await placesOf()
  assert.equal(before, [
    [again, 1],
    [`${again}-2`, 2],
  ])
  store.meta(store.root([again, again, store.message('assistant', [text('new')])]))
  assert.equal((await placesOf()).slice(0, 2), before)
  store.close()
})

test('messages replaced by a summary are read from earlier states (rule 13)', async () => {
  const { path, store } = newHome()
  const system = store.message('system', 'x')
  const said = ['one', 'two', 'three', 'four', 'five'].map((word) => store.message('user', [query(word)]))
  const summary = (word: string) => store.message('user', `So far: ${word}`, noted({ isSummary: true }))
  const [one, two, three, four, five] = said as [string, string, string, string, string]
  store.root([system, one])
  store.root([system, one, store.message('user', [query('taken back')])])
  store.root([system, one, two])
  const [first, second] = [summary('one, two'), summary('all')]
  store.root([system, first, three])
  store.root([system, first, three, four])
  store.root([system, second])
  store.meta(store.root([system, second, five]))
  assert.equal(
    (await saidIn(path)).map((words) => words.join(': ')),
    [
      'user: one',
      'user: two',
      'system: So far: one, two',
      'user: three',
      'user: four',
      'system: So far: all',
      'user: five',
    ],
  )
  store.close()
})

test('a call is left out until its tool has finished (rule 13)', async () => {
  const { path, store } = newHome()
  const prompt = store.message('user', [query('Wait')])
  const call = { type: 'tool-call', toolCallId: 't', toolName: 'Shell', args: {} }
  store.meta(store.root([prompt, store.message('assistant', [call], noted({ pendingToolCallStartedAtMs: 1 }))]))
  assert.equal(await saidIn(path), [['user', 'Wait']])
  store.meta(store.root([prompt, store.message('assistant', [call])]))
  assert.equal(await saidIn(path), [
    ['user', 'Wait'],
    ['assistant', '*tool_call'],
  ])
  store.close()
})

test('unreadable messages are skipped and reported by number, and the others are read (rule 9)', async () => {
  const { path, store } = newHome()
  const ids = [
    store.message('user', [query('first')]),
    store.blob(Buffer.from([0xff, 0x00, 0x80])),
    '00'.repeat(32),
    store.blob('["a list"]'),
    store.message('assistant', [text('last')]),
  ]
  store.meta(store.root(ids))
  const { session, messages, malformed } = await readSession(path, cursor)
  assert.is(messages.length, 2)
  assert.equal([session.skippedLines, malformed], [3, [2, 3, 4]])
  store.close()
})

test('a state in an unknown format is reported, an empty one is not; both have no messages (rule 9)', async () => {
  const forms: readonly (readonly [Buffer | undefined, number])[] = [
    [undefined, 0],
    [Buffer.from('encrypted'), 1],
    [Buffer.concat([field(1, 'no id'), field(2, 'x')]), 1],
    [Buffer.from([0x0a, 0xff, 0xff, 0xff]), 1],
    [Buffer.from([0x0b]), 1],
    [Buffer.from([0x80]), 1],
    [Buffer.alloc(0), 1],
  ]
  for (const [form, told] of forms) {
    const { path, store } = newHome()
    store.message('user', [query('x')])
    store.meta(form === undefined ? '' : store.blob(form))
    const { session, messages } = await readSession(path, cursor)
    assert.equal([messages.length, session.skippedLines], [0, told], String(form?.toString('hex')))
    store.close()
  }
})

test('unknown tables, rows and types are no errors (rules 1 and 9)', async () => {
  const bare = newHome().path
  for (const schema of ['CREATE TABLE blobs(id TEXT)', 'CREATE TABLE other(a)']) {
    const path = join(dirname(bare), `${++homes}`, 'store.db')
    cursorStore(path, schema).close()
    assert.equal((await readSession(path, cursor)).messages, [])
  }
  const path = join(dirname(bare), `${++homes}`, 'store.db')
  const store = cursorStore(
    path,
    'CREATE TABLE blobs(id TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID; CREATE TABLE meta(key TEXT PRIMARY KEY, value)',
  )
  const summary = store.message('user', 'So far', noted({ isSummary: true }))
  const state = store.root([summary, store.message('user', 'Hello')])
  store.database.prepare('INSERT INTO meta VALUES (?, ?)').run('0', `{"latestRootBlobId":"${state}"}`)
  assert.equal(await saidIn(path), [
    ['system', 'So far'],
    ['user', 'Hello'],
  ])
  store.close()
})

test('the trace has the name and the folder stored beside the database, else the ones in the state (rule 11)', async () => {
  const { path, store, beside } = newHome()
  const state = store.root(
    [store.message('user', [query('Fix it')])],
    field(9, 'file:///projects/my%20app'),
    field(21, Buffer.concat([field(1, '/projects/my app'), field(2, 'dev')])),
  )
  const traceOf = async () => (await readSession(path, cursor)).session.trace
  store.meta(state)
  const derived = { agentId: 'cursor', projectPath: '/projects/my app', projectName: 'my app', gitBranch: 'dev' }
  assert.equal(await traceOf(), { ...derived, title: 'Fix it' })
  store.meta(state, { name: 'Fixing', workspacePath: '/projects/other', lastUsedModel: 'composer-2' })
  const named = { title: 'Fixing', model: 'composer-2', projectPath: '/projects/other', projectName: 'other' }
  assert.equal(await traceOf(), { ...derived, ...named })
  beside({ schemaVersion: 1, title: 'Fix the bug', cwd: '/projects/third' })
  assert.equal(await traceOf(), {
    ...derived,
    ...named,
    title: 'Fix the bug',
    projectPath: '/projects/third',
    projectName: 'third',
  })
  writeFileSync(join(dirname(path), 'meta.json'), 'damaged')
  assert.equal(await traceOf(), { ...derived, ...named })
  store.close()
})

test('a stamp changes with each commit, and with the file stored beside the database (rule 2)', async () => {
  const { path, store, beside } = newHome()
  const stampNow = async () => stampOf((await Array.fromAsync(cursor.sessions(path)))[0]!)
  const stamps = new Set([await stampNow()])
  store.meta(store.root([store.message('user', 'Hello')]))
  stamps.add(await stampNow())
  store.meta(store.root([store.message('user', 'Hello again')]))
  stamps.add(await stampNow())
  beside({ title: 'Hello' })
  stamps.add(await stampNow())
  assert.is(stamps.size, 4)
  assert.ok(stamps.has(await stampNow()))
  store.close()
})

test('committed data is read while the tool writes the database, and no file is created beside it (rule 1)', async () => {
  const { path, store } = newHome()
  store.meta(store.root([store.message('user', 'Hello')]))
  store.close()
  assert.equal(await saidIn(path), [['user', 'Hello']])
  assert.equal(readdirSync(dirname(path)), ['store.db'])
  const other = otherProcess(path, `database.exec("BEGIN IMMEDIATE; DELETE FROM blobs"); say('ready')`)
  await other.said()
  assert.equal(await saidIn(path), [['user', 'Hello']])
  await other.stop()
})

test('messages are from the moment when the session was read; reading it again gives the current ones', async () => {
  const { path, store } = newHome()
  const first = store.message('user', 'Hello')
  store.meta(store.root([first]))
  const [stored] = await Array.fromAsync(cursor.sessions(path))
  const session = await stored!.read({ onMalformed: () => assert.unreachable() })
  store.meta(store.root([first, store.message('user', 'later')]))
  const counts = []
  for (let n = 0; n < 3; n++) counts.push((await Array.fromAsync(session.messages())).length)
  assert.equal(counts, [1, 2, 2])
  store.close()
})

test('databases are found in the home folder and in the settings folder, and recognised elsewhere', async () => {
  for (const chats of [join('.cursor', 'chats'), join('.config', 'cursor', 'chats')]) {
    const { home, path, store } = newHome('s-1', chats)
    mkdirSync(join(dirname(path), 'more'))
    writeFileSync(join(dirname(path), 'more', 'store.db'), '')
    assert.equal(await found(home), [path])
    store.close()
  }
  const { path, store } = newHome('s-1', 'elsewhere')
  store.close()
  const named = await findSessionFiles([cursor], [dirname(path)], { env: {}, home: '/none' }, assert.unreachable)
  assert.equal(
    named.map((file) => file.path),
    [path],
  )
})

test('a session that also has a transcript is read from its database, unless the database has no messages (rule 7)', async () => {
  const { home, path, store } = newHome('s-7')
  const transcript = join(home, '.cursor', 'projects', 'work', 'agent-transcripts', 's-7', 's-7.jsonl')
  mkdirSync(dirname(transcript), { recursive: true })
  writeFileSync(transcript, '{"role":"user","message":{"content":[{"type":"text","text":"Hello"}]}}\n')
  store.meta(store.root([store.message('user', 'Hello')]))
  store.close()
  assert.equal((await found(home)).sort(), [path, transcript].sort())
  assert.equal(await readSessions(transcript, cursor), [])
  assert.is((await readSessions(path, cursor)).length, 1)

  const unknown = newHome('s-8')
  const other = join(unknown.home, '.cursor', 'projects', 'work', 'agent-transcripts', 's-8.jsonl')
  mkdirSync(dirname(other), { recursive: true })
  writeFileSync(other, '{"role":"user","message":{"content":[{"type":"text","text":"Hello"}]}}\n')
  unknown.store.meta(unknown.store.blob('of a later version'))
  unknown.store.close()
  assert.is((await readSessions(other, cursor)).length, 1)
})

test('a session that is also in the editor’s database is read only from there (rule 7)', async () => {
  const { home, path, store } = newHome('c-1')
  store.meta(store.root([store.message('user', 'Hello')]))
  store.close()
  const editor = join(home, '.config', 'Cursor', 'User', 'globalStorage', 'state.vscdb')
  const writer = cursorDatabase(editor)
  writer.composer('c-1', ['b-1'])
  writer.bubble('c-1', 'b-1', typed('Hello'))
  writer.close()
  assert.equal(await readSessions(path, cursor), [])
  assert.is((await readSessions(editor, cursor)).length, 1)
})

test.run()
