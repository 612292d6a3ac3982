import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/sync/agents/support/sqlite/load.ts'
import { hashOf } from '../../../src/sync/agents/support/hashed-map.ts'
import { digest, digestBytes } from '../../../src/sync/digest.ts'
import { STATE_FILE } from '../../../src/sync/state/state-file.ts'
import { openSyncState, type SyncState } from '../../../src/sync/state/sync-state.ts'
import type { SessionState } from '../../../src/sync/state/session-states.ts'
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
  stamp: undefined,
  fields: new Map([['title', 'd']]),
  sentFrom: undefined,
}
const message = { externalId: 'm', digest: new Uint8Array(digestBytes(Buffer.from('text'))) }

test('a session is recorded with the position to resume reading from, in a file that only its owner can read', async ({
  open,
  file,
}) => {
  const states = await open().of(place)
  states.write(session)
  states.acknowledge(session, [message])
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  const again = await open().of(place)
  assert.equal(again.read(session.source), { ...session, stamp: 'stamp', sentFrom: session.source })
  assert.equal(again.digests(session)('m'), message.digest)
  assert.is(again.digests(session)('other'), undefined)
  assert.is(again.resume(session.source), 'resume')
  assert.is(statSync(file).mode & 0o077, 0)
})

test('the record of a session is kept during its next upload, without a stamp until that is complete', async ({
  open,
}) => {
  const states = await open().of(place)
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  states.acknowledge(session, [message])
  states.write(session)
  assert.is(states.read(session.source)?.stamp, undefined)
  assert.is(states.resume(session.source), 'resume')
  assert.equal(states.digests(session)('m'), message.digest)
})

test('the record of a session is found when it is read from another source, which has no stamp yet', async ({
  open,
}) => {
  const states = await open().of(place)
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  states.acknowledge(session, [message])
  const moved = '/archived/s.jsonl'
  assert.equal([states.read(moved), states.resume(moved)], [undefined, undefined])
  const { source: _, stamp: __, ...sent } = session
  assert.equal(states.find(session), { ...sent, sentFrom: session.source })
  states.complete({ ...session, source: moved, stamp: 'moved' }, undefined)
  assert.equal(states.digests(session)('m'), message.digest)
  assert.equal([states.read(session.source)?.stamp, states.find(session)?.sentFrom], ['stamp', moved])
})

test('the record of a session stays its own when its source holds another session', async ({ open }) => {
  const states = await open().of(place)
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  states.acknowledge(session, [message])
  const another = { ...session, sessionId: 'another' }
  states.write(another)
  assert.equal([states.read(session.source), states.resume(session.source)], [another, undefined])
  assert.is(states.digests(another)('m'), undefined)
  assert.equal(states.digests(session)('m'), message.digest)
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
  old.acknowledge(session, [message])
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
  assert.equal((await open().of(place)).read(session.source), session)
})

test('records in a file that is damaged after its first page are dropped too', async ({ open, file }) => {
  const first = open()
  const states = await first.of(place)
  for (let i = 0; i < 500; i++) states.write({ ...session, source: `/${i}`, sessionId: `${i}` })
  first.close()
  // All pages but the first one, which says what the tables are.
  const size = statSync(file).size
  const damaged = Buffer.alloc(size, 0xa5)
  readFileSync(file).copy(damaged, 0, 0, 4_096)
  writeFileSync(file, damaged)
  const again = await open().of(place)
  assert.is(again.read('/1'), undefined)
  again.write(session)
  assert.equal(again.read(session.source), session)
})

test('every process drops its records once one of them has found that the service lost its data', async ({ open }) => {
  const [one, other] = [open(), open()]
  const [before, beside] = [await one.of(place), await other.of(place)]
  before.write(session)
  before.noteWrite('1.x')
  assert.equal(beside.read(session.source), session)
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
  assert.equal((await other.of(place)).read(session.source), session)
})

test('a state file of a newer version is refused, and not changed', ({ open, file }) => {
  open().close()
  const database = openDatabase(file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  assert.throws(
    () => open(),
    /a newer version of tracebook has written the record of what was uploaded: update this one/,
  )
})

/** What versions before 0.2 stored. */
const writeOlder = (home: string, namespaceId = place.namespaceId): string => {
  const folder = join(home, 'synced', digest(place.server), digest(namespaceId))
  mkdirSync(folder, { recursive: true })
  const { source: path, agentId, status: _, fields, ...rest } = session
  const state = {
    path,
    ...rest,
    stored: true,
    stamp: `${agentId}/1 2 3`,
    fields: [...fields],
    messages: [['m', digest('text')]],
  }
  writeFileSync(join(folder, `${digest(path)}.json`), JSON.stringify(state))
  writeFileSync(join(folder, 'damaged.json'), '{')
  return folder
}

test('the state files of an older version are migrated once', async ({ home, open }) => {
  const folder = writeOlder(home)
  const states = await open().of(place)
  assert.equal(states.read(session.source), { ...session, stamp: 'codex/1 2 3', sentFrom: session.source })
  assert.equal([...states.digests(session)('m')!], [...message.digest])
  assert.not.ok(existsSync(folder))
})

/** The tables of version 3, with a session that was sent from two files, and one whose upload was interrupted. */
const VERSION_3 = `
  CREATE TABLE destination (id INTEGER PRIMARY KEY AUTOINCREMENT, server TEXT NOT NULL, namespace TEXT NOT NULL, log TEXT,
    UNIQUE (server, namespace));
  CREATE TABLE session (id INTEGER PRIMARY KEY, destination INTEGER NOT NULL REFERENCES destination ON DELETE CASCADE,
    source TEXT NOT NULL, stamp TEXT, session TEXT NOT NULL, trace TEXT NOT NULL, stored INTEGER NOT NULL,
    fields TEXT NOT NULL, resume TEXT, UNIQUE (destination, source));
  CREATE TABLE message (session INTEGER NOT NULL REFERENCES session ON DELETE CASCADE, id INTEGER NOT NULL,
    digest BLOB NOT NULL, PRIMARY KEY (session, id)) WITHOUT ROWID;
  CREATE TABLE origin (source TEXT PRIMARY KEY, stamp TEXT NOT NULL, project TEXT) WITHOUT ROWID;
  CREATE TABLE told (source TEXT NOT NULL, loss TEXT NOT NULL, PRIMARY KEY (source, loss)) WITHOUT ROWID;
  CREATE TABLE claim (source TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO destination VALUES (7, 'http://s', 'n', 'log');
  INSERT INTO session VALUES (1, 7, '/copy.jsonl', 'codex/1 a', 's', 's', 1, '[]', NULL),
    (2, 7, '/s.jsonl', 'codex/1 b', 's', 's@ada', 1, '[["title","d"]]', 'resume'),
    (3, 7, '/t.jsonl', NULL, 't', 't', 1, '[]', NULL);
  INSERT INTO message VALUES (1, ${hashOf('m')}, x'00'), (2, ${hashOf('m')}, x'01'), (3, ${hashOf('m')}, x'02');
  INSERT INTO origin VALUES ('/s.jsonl', 'codex/1 b', '/w'), ('/t.jsonl', 'pi/2 c', '/w');
  INSERT INTO told VALUES ('/s.jsonl', 's line 1');
  PRAGMA user_version = 3;`

test('records that older versions stored by source are found by session', async ({ open, file }) => {
  mkdirSync(join(file, '..'))
  const older = openDatabase(file)
  older.exec(VERSION_3)
  older.close()
  const state = open()
  const states = await state.of(place)
  const sent = { ...session, stamp: 'codex/1 b', sentFrom: '/s.jsonl' }
  assert.equal([states.read('/s.jsonl'), states.resume('/s.jsonl')], [sent, 'resume'])
  assert.equal([states.read('/copy.jsonl')?.stamp, states.find(session)?.externalId], ['codex/1 a', 's@ada'])
  assert.equal([...states.digests(session)('m')!], [1])
  const interrupted = { agentId: 'pi', sessionId: 't' }
  assert.equal([states.read('/t.jsonl')?.agentId, states.find(interrupted)?.sentFrom], ['pi', undefined])
  assert.equal([...states.digests(interrupted)('m')!], [2])
  assert.equal(state.newLosses('codex', ['s line 1', 's line 2']), ['s line 2'])
  // What belongs to a destination still goes with it.
  assert.is((await state.of({ ...place, logId: 'another' })).find(session), undefined)
})

test('a dry run reads older state files, and writes nothing', async ({ home, open, file }) => {
  const folder = writeOlder(home)
  const states = await open(true).of(place)
  assert.is(states.read(session.source)?.stamp, 'codex/1 2 3')
  assert.ok(existsSync(folder))
  assert.not.ok(existsSync(file))
})

test.run()
