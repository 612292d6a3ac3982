import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/client/agents/support/sqlite/load.ts'
import { digestBytes } from '../../../src/client/digest.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import { openSyncState, type SyncState } from '../../../src/client/state/sync-state.ts'
import type { SentSession, SessionState } from '../../../src/client/state/session-states.ts'
import { tempFolder } from '../support/temp.ts'

type Context = { home: string; open: (readOnly?: boolean) => SyncState; file: string; remove: () => void }
const test = suite<Context>('what was uploaded')

test.before.each((context) => {
  const { path: home, remove } = tempFolder()
  const opened: SyncState[] = []
  const open = (readOnly = false) => {
    const state = openSyncState({ folder: join(home, 'data'), config: home, readOnly })
    opened.push(state)
    return state
  }
  const close = () => {
    for (const state of opened) state.close()
    remove()
  }
  Object.assign(context, { home, open, file: join(home, 'data', STATE_FILE), remove: close })
})
test.after.each(({ remove }) => remove())

const place = { server: 'http://s', namespaceId: 'n', logId: 'log' }
const session: SessionState = {
  source: '/s.jsonl',
  agentId: 'codex',
  sessionId: 's',
  externalId: 's@ada',
  status: 'stored',
  files: new Map([['/s.jsonl', undefined]]),
  fields: new Map([['title', 'd']]),
  revision: undefined,
  sentFrom: '/s.jsonl',
}
/** The session once all of it was sent. */
const whole = { ...session, files: new Map([['/s.jsonl', 'stamp']]) }
/** What is recorded of a session, from whatever source. */
const recorded = ({ source: _, ...sent }: SessionState): SentSession => sent
const message = { externalId: 'm', digest: new Uint8Array(digestBytes(Buffer.from('text'))) }

test('a session is recorded in a file that only its owner can read', async ({ open, file }) => {
  const states = await open().of(place)
  states.write(session)
  states.note(session, [message], { from: undefined, to: undefined })
  states.complete(whole, true)
  const again = await open().of(place)
  assert.equal(again.read(session.source), recorded(whole))
  assert.equal(again.notes(session)('m')?.digest, message.digest)
  assert.is(again.notes(session)('other')?.digest, undefined)
  assert.is(statSync(file).mode & 0o077, 0)
})

test('the record of a session is kept during its next upload, without a stamp until that is complete', async ({
  open,
}) => {
  const states = await open().of(place)
  states.complete(whole, true)
  states.note(session, [message], { from: undefined, to: undefined })
  states.write(session)
  assert.equal(states.read(session.source)?.files, session.files)
  assert.equal(states.notes(session)('m')?.digest, message.digest)
})

test('the record of a session is found when it is read from another source, which has no stamp yet', async ({
  open,
}) => {
  const states = await open().of(place)
  states.complete(whole, true)
  states.note(session, [message], { from: undefined, to: undefined })
  const moved = '/archived/s.jsonl'
  assert.is(states.read(moved), undefined)
  assert.equal(states.find(session), recorded(whole))
  states.complete({ ...session, source: moved, files: new Map([[moved, 'moved']]) }, true)
  assert.equal(states.notes(session)('m')?.digest, message.digest)
  const { files, sentFrom } = states.read(session.source)!
  assert.equal([[...files], sentFrom], [[...whole.files, [moved, 'moved']], moved])
})

test('the record of a session stays its own when its source holds another session', async ({ open }) => {
  const states = await open().of(place)
  states.complete(whole, true)
  states.note(session, [message], { from: undefined, to: undefined })
  const another = { ...session, sessionId: 'another' }
  states.write(another)
  assert.equal(states.read(session.source), recorded(another))
  assert.equal(states.find(session)?.files, new Map())
  assert.is(states.notes(another)('m')?.digest, undefined)
  assert.equal(states.notes(session)('m')?.digest, message.digest)
})

test('a session is recorded with all its files, and found by each of them', async ({ open }) => {
  const states = await open().of(place)
  states.write({ ...session, files: new Map([...session.files, ['/s-2.jsonl', undefined]]) })
  const files = new Map([...whole.files, ['/s-2.jsonl', 'stamp 2']])
  states.complete({ ...session, files }, true)
  for (const path of files.keys()) assert.equal(states.read(path)?.files, files)
})

test('sessions of two agents with the same id have separate records', async ({ open }) => {
  const states = await open().of(place)
  states.write(session)
  assert.is(states.find({ ...session, agentId: 'pi' }), undefined)
})

test('records are separate for each server and namespace', async ({ open }) => {
  const state = open()
  ;(await state.of(place)).write(session)
  for (const other of [{ namespaceId: 'm' }, { server: 'http://t' }])
    assert.is((await state.of({ ...place, ...other })).read(session.source), undefined)
})

test('records are dropped if the service has another log, and kept if it does not name its log', async ({ open }) => {
  ;(await open().of(place)).write(session)
  const unsaid = await open().of({ ...place, logId: undefined })
  assert.equal([unsaid.logId(), unsaid.read(session.source)?.externalId], ['log', 's@ada'])
  const old = await open().of(place)
  const renewed = await open().of({ ...place, logId: 'another' })
  assert.is(renewed.read(session.source), undefined)
  // A process that still knows the old log writes nothing into the new one.
  old.write(session)
  old.note(session, [message], { from: undefined, to: undefined })
  assert.is(renewed.read(session.source), undefined)
  assert.is((await open().of({ ...place, logId: 'another' })).read(session.source), undefined)
})

test('the stamp and the project of a source are remembered, and updated', ({ open }) => {
  const state = open()
  assert.is(state.originOf('/s.jsonl'), undefined)
  state.noteOrigin('/s.jsonl', { stamp: '1', projectPath: undefined })
  assert.equal(state.originOf('/s.jsonl'), { stamp: '1', projectPath: undefined })
  state.noteOrigin('/s.jsonl', { stamp: '2', projectPath: '/w/app' })
  assert.equal(open().originOf('/s.jsonl'), { stamp: '2', projectPath: '/w/app' })
})

test('records in a damaged file are dropped, and new ones can be written', async ({ open, file }) => {
  mkdirSync(join(file, '..'))
  writeFileSync(file, 'no database at all, but long enough to be looked at as one'.repeat(100))
  const states = await open().of(place)
  assert.is(states.read(session.source), undefined)
  states.write(session)
  assert.equal((await open().of(place)).read(session.source), recorded(session))
})

test('records in a file that is damaged after its first page are dropped too', async ({ open, file }) => {
  const first = open()
  const states = await first.of(place)
  for (let i = 0; i < 500; i++)
    states.write({ ...session, sessionId: `${i}`, source: `/${i}`, files: new Map([[`/${i}`, undefined]]) })
  first.close()
  // All pages but the first one, which says what the tables are.
  const size = statSync(file).size
  const damaged = Buffer.alloc(size, 0xa5)
  readFileSync(file).copy(damaged, 0, 0, 4_096)
  writeFileSync(file, damaged)
  const again = await open().of(place)
  assert.is(again.read('/1'), undefined)
  again.write(session)
  assert.equal(again.read(session.source), recorded(session))
})

test('every process drops its records once one of them has found that the service lost its data', async ({ open }) => {
  const [one, other] = [open(), open()]
  const [before, beside] = [await one.of(place), await other.of(place)]
  before.write(session)
  before.noteWrite('1.x')
  assert.equal(beside.read(session.source), recorded(session))
  other.forget(place.server)
  assert.equal([before.isKept(), beside.isKept(), before.read(session.source)], [false, false, undefined])
  const after = await one.of(place)
  before.write(session)
  before.noteWrite('2.x')
  assert.equal(
    [after.isKept(), after.read(session.source), one.lastWriteTo(place.server)],
    [true, undefined, undefined],
  )
  after.write(session)
  assert.equal((await other.of(place)).read(session.source), recorded(session))
})

test('a state file of a newer version is refused, and not changed', ({ open, file }) => {
  open().close()
  const database = openDatabase(file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  assert.throws(
    () => open(),
    (error: Error) => error.message.startsWith(`a newer version of tracebook has written ${file}: update this one`),
  )
})

test('the record of an older version is thrown away, because it can be found out again', async ({ open, file }) => {
  mkdirSync(join(file, '..'))
  const older = openDatabase(file)
  older.exec(`CREATE TABLE session (id INTEGER PRIMARY KEY); CREATE TABLE message (session INTEGER REFERENCES session);
    INSERT INTO session VALUES (1); INSERT INTO message VALUES (1); PRAGMA user_version = 6`)
  older.close()
  const states = await open().of(place)
  assert.is(states.find(session), undefined)
  states.write(session)
  assert.equal((await open().of(place)).read(session.source), recorded(session))
})

test('a dry run writes nothing', async ({ open, file }) => {
  const states = await open(true).of(place)
  states.write(session)
  assert.not.ok(existsSync(file))
})

test('a note about what the service has needs the revision that was noted before', async ({ open }) => {
  const states = await open().of(place)
  states.write(session)
  states.note(session, [message], { from: undefined, to: 4 })
  const other = { ...message, digest: new Uint8Array([7]) }
  // What another process notes that knows less.
  states.note(session, [other], { from: undefined, to: 3 })
  states.note(session, [other], { from: 3, to: 5 })
  assert.equal([states.find(session)?.revision, states.notes(session)('m')?.digest], [4, message.digest])
  states.note(session, [{ ...other, isTheirs: true }], { from: 4, to: 5 })
  assert.equal(
    [states.find(session)?.revision, states.notes(session)('m')],
    [5, { digest: other.digest, isTheirs: true }],
  )
})

test('a session of which two files were sent is sent from none of them, until one has all of it', async ({ open }) => {
  const states = await open().of(place)
  states.write(session)
  assert.is(states.find(session)?.sentFrom, session.source)
  const copy = { ...session, source: '/copy.jsonl', files: new Map([['/copy.jsonl', undefined]]) }
  const same = { from: undefined, to: undefined }
  states.write(copy)
  states.note(copy, [{ ...message, isTheirs: true }], same)
  assert.is(states.find(session)?.sentFrom, session.source)
  states.note(copy, [message], same)
  states.complete(copy, false)
  states.complete(session, false)
  assert.is(states.find(session)?.sentFrom, undefined)
  states.complete(copy, true)
  assert.is(states.find(session)?.sentFrom, '/copy.jsonl')
})

test.run()
