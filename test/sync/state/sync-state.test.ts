import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/sync/agents/support/sqlite/load.ts'
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
  sessionId: 's',
  externalId: 's@ada',
  stored: true,
  stamp: undefined,
  fields: new Map([['title', 'd']]),
}
const message = { externalId: 'm', digest: new Uint8Array(digestBytes('text')) }

test('is found again, with the text to go on reading from, by its owner only', async ({ open, file }) => {
  const states = await open().of(place)
  states.write(session)
  states.acknowledge(session.source, [message])
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  const again = await open().of(place)
  assert.equal(again.read(session.source), { ...session, stamp: 'stamp' })
  assert.equal(again.digests(session.source)('m'), message.digest)
  assert.is(again.digests(session.source)('other'), undefined)
  assert.is(again.resume(session.source), 'resume')
  assert.is(statSync(file).mode & 0o077, 0)
})

test('is kept while an upload goes on, and what is not complete has no stamp', async ({ open }) => {
  const states = await open().of(place)
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  states.acknowledge(session.source, [message])
  states.write(session)
  assert.is(states.read(session.source)?.stamp, undefined)
  assert.is(states.resume(session.source), 'resume')
  assert.equal(states.digests(session.source)('m'), message.digest)
})

test('of a source that holds another session now is forgotten', async ({ open }) => {
  const states = await open().of(place)
  states.complete({ ...session, stamp: 'stamp' }, 'resume')
  states.acknowledge(session.source, [message])
  states.write({ ...session, sessionId: 'another' })
  assert.is(states.digests(session.source)('m'), undefined)
  assert.is(states.resume(session.source), undefined)
})

test('is told apart by server and namespace', async ({ open }) => {
  const state = open()
  ;(await state.of(place)).write(session)
  for (const other of [{ namespaceId: 'm' }, { server: 'http://t' }])
    assert.is((await state.of({ ...place, ...other })).read(session.source), undefined)
})

test('is forgotten once the service has another log, and kept where it does not say', async ({ open }) => {
  ;(await open().of(place)).write(session)
  const unsaid = await open().of({ ...place, logId: undefined })
  assert.equal([unsaid.logId(), unsaid.read(session.source)?.externalId], ['log', 's@ada'])
  const old = await open().of(place)
  const renewed = await open().of({ ...place, logId: 'another' })
  assert.is(renewed.read(session.source), undefined)
  // A process that still knows the old log writes nothing into the new one.
  old.write(session)
  old.acknowledge(session.source, [message])
  assert.is(renewed.read(session.source), undefined)
  assert.is((await open().of({ ...place, logId: 'another' })).read(session.source), undefined)
})

test('where a source goes is learnt, and learnt anew', ({ open }) => {
  const state = open()
  assert.is(state.originOf('/s.jsonl'), undefined)
  state.learnOrigin('/s.jsonl', { stamp: '1', projectPath: undefined })
  assert.equal(state.originOf('/s.jsonl'), { stamp: '1', projectPath: undefined })
  state.learnOrigin('/s.jsonl', { stamp: '2', projectPath: '/w/app' })
  assert.equal(open().originOf('/s.jsonl'), { stamp: '2', projectPath: '/w/app' })
})

test('in a damaged file is forgotten, and everything else goes on', async ({ open, file }) => {
  mkdirSync(join(file, '..'))
  writeFileSync(file, 'no database at all, but long enough to be looked at as one'.repeat(100))
  const states = await open().of(place)
  assert.is(states.read(session.source), undefined)
  states.write(session)
  assert.equal((await open().of(place)).read(session.source), session)
})

test('in a file that is damaged while it is open is forgotten too', async ({ open, file }) => {
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

test('of a newer version is left alone', ({ open, file }) => {
  open().close()
  const database = openDatabase(file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  assert.throws(() => open(), /a newer tracebook keeps what was uploaded: update this one/)
})

/** What versions before 0.2 stored. */
const writeOlder = (home: string, namespaceId = place.namespaceId): string => {
  const folder = join(home, 'synced', digest(place.server), digest(namespaceId))
  mkdirSync(folder, { recursive: true })
  const { source: path, fields, ...rest } = { ...session, stamp: 'stamp' }
  const state = { path, ...rest, fields: [...fields], messages: [['m', digest('text')]] }
  writeFileSync(join(folder, `${digest(path)}.json`), JSON.stringify(state))
  writeFileSync(join(folder, 'damaged.json'), '{')
  return folder
}

test('by an older version is taken over, once', async ({ home, open }) => {
  const folder = writeOlder(home)
  const states = await open().of(place)
  assert.equal(states.read(session.source), { ...session, stamp: 'stamp' })
  assert.equal([...states.digests(session.source)('m')!], [...message.digest])
  assert.not.ok(existsSync(folder))
})

test('is read by a dry run, which writes nothing', async ({ home, open, file }) => {
  const folder = writeOlder(home)
  const states = await open(true).of(place)
  assert.is(states.read(session.source)?.stamp, 'stamp')
  assert.ok(existsSync(folder))
  assert.not.ok(existsSync(file))
})

test.run()
