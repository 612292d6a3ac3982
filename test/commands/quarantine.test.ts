import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readModels } from '../../projections/index.ts'
import { schemaOf } from '../../src/engine/group.ts'
import { skipStreamOf } from '../../src/engine/quarantine.ts'
import { newId, traceId } from '../../src/ids.ts'
import type { EventLog } from '../../src/log/log.ts'
import { wholeAppends } from '../../src/log/whole-appends.ts'
import { type Service, serveOn, until } from '../fault/support/service.ts'
import { dumpSchema } from '../support/compare.ts'
import { type Database, freshDatabase, onServer } from '../support/database.ts'
import { logEnvironment, openBareLog } from '../support/log-place.ts'
import { inTemporary, run } from './support/processes.ts'

const schema = schemaOf(readModels)

/** A service as a process of its own, whose user has the traces, and which can be stopped and started. */
type Scene = { database: Database; folder: string; service: Service; token: string; namespaceId: string }

/** One service for all tests: each has traces of its own. */
const test = suite<Scene>('tracebook log quarantine, replay and skip')
const { promise: over, resolve: end } = Promise.withResolvers<void>()
let ended: Promise<unknown>

const serve = ({ folder, database: { url } }: Pick<Scene, 'folder' | 'database'>) =>
  serveOn(folder, { DATABASE_URL: url, ...logEnvironment(url), LOG_LEVEL: 'warn' })

test.before(async (scene) => {
  scene.database = await freshDatabase()
  await new Promise<void>((begun) => {
    ended = inTemporary(async (folder) => {
      scene.folder = folder
      begun()
      await over
    })
  })
  scene.service = await serve(scene)
  const { data } = await scene.service.call('POST', '/v1/session', { body: { deviceId: randomUUID() } })
  Object.assign(scene, (data as { session: { token: string; namespaceId: string } }).session)
})
test.after(async ({ service, database }) => {
  await service.end('SIGTERM')
  end()
  await ended
  await database.drop()
})

/** The command as an operator gives it, beside the service or where it ran. */
const tracebook = ({ database: { url }, folder }: Scene, ...words: string[]) =>
  run(words, { DATABASE_URL: url, DATA_DIR: join(folder, 'none'), ...logEnvironment(url) })

const call = ({ service, token }: Scene, method: string, path: string, body?: unknown) =>
  service.call(method, `/v1/traces/${path}`, { token, body })

const streamOf = ({ namespaceId }: Scene, trace: string) => `trace-${traceId(namespaceId, trace)}`

/** The texts of a trace's messages. */
const textsOf = async (scene: Scene, trace: string): Promise<string[]> => {
  const { data } = await call(scene, 'GET', `${trace}/messages`)
  return (data as { messages: { textContent: string }[] }).messages.map(({ textContent }) => textContent)
}

const withLog = async <T>({ database }: Scene, work: (log: EventLog) => Promise<T>) => {
  const log = wholeAppends(openBareLog(database.url))
  return work(log).finally(() => log.close())
}

/** Adds an event to a stream, past all that checks it. */
const append = (scene: Scene, stream: string, type: string, data: object) =>
  withLog(scene, async (log) => {
    const metadata = JSON.stringify({ at: Date.now(), schema: 1, append: { id: newId(), index: 0, size: 1 } })
    const event = { id: newId(), type, data: JSON.stringify(data), metadata }
    return (await log.append(stream, await log.lastRevision(stream), [event])).position
  })

const eventsOf = (scene: Scene, stream: string) => withLog(scene, (log) => Array.fromAsync(log.read(stream)))
const headOf = (scene: Scene) => withLog(scene, (log) => log.head())
const sql = ({ database }: Scene, text: string) => onServer(database.url, text)

const forbid = (scene: Scene, trace: string) =>
  sql(scene, `alter table ${schema}.messages add constraint no_${trace} check (external_id <> 'cat of ${trace}')`)
const allow = (scene: Scene, trace: string) => sql(scene, `alter table ${schema}.messages drop constraint no_${trace}`)

const isInQuarantine = async (scene: Scene, trace: string) => (await call(scene, 'GET', trace)).status === 503

/** Two messages, of which a constraint refuses the second, and then another title: that is left aside with it. */
const poison = async (scene: Scene, trace: string): Promise<string> => {
  assert.is((await call(scene, 'PUT', trace, { title: 'Bad', visibility: 'public' })).status, 200)
  const put = (name: string, textContent: string) =>
    call(scene, 'PUT', `${trace}/messages/${name}`, { role: 'user', textContent })
  await put('dog', 'one')
  await forbid(scene, trace)
  await put(`cat of ${trace}`, 'two')
  await until(() => isInQuarantine(scene, trace))
  const stream = streamOf(scene, trace)
  await append(scene, stream, 'TraceUpdated', { patch: [{ op: 'replace', path: '/title', value: 'Later' }] })
  return stream
}

type Listed = { readonly stream: string; readonly position: string; readonly type: string; readonly reason: string }

const listed = async ({ database }: Scene): Promise<Listed[]> =>
  (await onServer(database.url, `select stream, position::text, type, reason from ${schema}.quarantine order by at`))
    .rows as Listed[]

const positionOf = async (scene: Scene, stream: string): Promise<string> =>
  (await listed(scene)).find((one) => one.stream === stream)!.position

test('list what is in quarantine, for people and for programs; the rest is served', async (scene) => {
  const nothing = await tracebook(scene, 'log', 'quarantine')
  assert.equal(nothing, { how: 0, out: 'No stream is in quarantine.\n', err: '' })

  await call(scene, 'PUT', 'good', {})
  await call(scene, 'PUT', 'worse', {})
  const stream = await poison(scene, 'bad')
  const position = await append(scene, streamOf(scene, 'worse'), 'Exploded', {})
  await until(() => isInQuarantine(scene, 'worse'))
  for (const trace of ['bad', 'worse'])
    for (const [method, path, body] of [
      ['GET', trace, undefined],
      ['PUT', trace, { title: 'x' }],
      ['PUT', `${trace}/messages/n`, { role: 'user' }],
    ] as const) {
      const { status, error } = await call(scene, method, path, body)
      assert.is(status, 503)
      assert.match(error.message, 'is in quarantine')
    }
  assert.is((await call(scene, 'PUT', 'good', { title: 'x' })).status, 200)

  const found = await tracebook(scene, 'log', 'quarantine')
  assert.equal([found.how, found.err], [3, ''])
  assert.match(found.out, `${stream}  since 20`)
  assert.match(found.out, /event MessageAdded at position \d+ \(revision \d+\): it violates no_bad/)
  assert.match(found.out, `event Exploded at position ${position}`)
  const { how, out } = await tracebook(scene, 'log', 'quarantine', '--json')
  assert.is(how, 3)
  const documents = out.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>) // prettier-ignore
  assert.equal(
    documents.map(({ group, stream, type, reason }) => ({ group, stream, type, reason })),
    [
      { group: 'main', stream, type: 'MessageAdded', reason: 'it violates no_bad' },
      { group: 'main', stream: streamOf(scene, 'worse'), type: 'Exploded', reason: 'unknown event type Exploded' },
    ],
  )
  assert.is(documents[1]!.position, `${position}`)
})

test('replay a stream once the cause is mended: all of it is served again, later events too', async (scene) => {
  const stream = await poison(scene, 'mended')
  const early = await tracebook(scene, 'log', 'replay', stream)
  assert.is(early.how, 3)
  assert.match(early.err, `${stream} stays in quarantine`)
  assert.match(early.err, 'it violates no_mended')
  assert.ok(await isInQuarantine(scene, 'mended'))

  await allow(scene, 'mended')
  const { how, out, err } = await tracebook(scene, 'log', 'replay', stream)
  assert.equal([how, err], [0, ''])
  assert.match(out, `The rows of ${stream} have been made anew`)
  await until(async () => !(await isInQuarantine(scene, 'mended')))
  const { data } = await call(scene, 'GET', 'mended')
  assert.is((data as { trace: { title: string } }).trace.title, 'Later')
  assert.equal(await textsOf(scene, 'mended'), ['one', 'two'])
  const put = await call(scene, 'PUT', 'mended/messages/n', { role: 'user', textContent: 'three' })
  assert.is(put.status, 200)
  assert.equal(await textsOf(scene, 'mended'), ['one', 'two', 'three'])
})

test('skip an event for good, with who and why in the log, also after a rebuild', async (scene) => {
  const stream = await poison(scene, 'skipped')
  const position = await positionOf(scene, stream)
  const words = ['log', 'skip', '--position', position, '--why', 'cats are not stored', '--by', 'Ada']
  const { how, out, err } = await tracebook(scene, ...words)
  assert.equal([how, err], [0, ''])
  assert.match(out, `MessageAdded at position ${position} is passed over for good.`)
  assert.match(out, 'have been made anew')
  const decisions = await eventsOf(scene, skipStreamOf(stream))
  assert.is(decisions.length, 1)
  assert.is(decisions[0]!.type, 'EventSkipped')
  const { by, why, stream: of } = JSON.parse(decisions[0]!.data) as Record<string, string>
  assert.equal({ by, why, of }, { by: 'Ada', why: 'cats are not stored', of: stream })

  await until(async () => !(await isInQuarantine(scene, 'skipped')))
  assert.equal(await textsOf(scene, 'skipped'), ['one'])
  assert.is((await tracebook(scene, 'rebuild')).how, 0)
  assert.equal(await textsOf(scene, 'skipped'), ['one'])
  const put = await call(scene, 'PUT', 'skipped/messages/n', { role: 'user', textContent: 'two' })
  assert.is(put.status, 200)
})

test('skip one of two bad events of a stream: it stays in quarantine for the other', async (scene) => {
  const stream = await poison(scene, 'twice')
  const next = await append(scene, stream, 'Exploded', {})
  const position = await positionOf(scene, stream)
  const first = await tracebook(scene, 'log', 'skip', '--position', position, '--why', 'a test')
  assert.is(first.how, 3)
  assert.match(first.out, 'is passed over for good')
  assert.match(first.err, `event Exploded at position ${next}`)
  assert.is((await tracebook(scene, 'log', 'skip', '--position', `${next}`, '--why', 'a test')).how, 0)
  await until(async () => !(await isInQuarantine(scene, 'twice')))
})

test('change nothing and say why when they are used wrongly', async (scene) => {
  assert.is((await call(scene, 'PUT', 'fine', {})).status, 200)
  const { position: fine } = (await eventsOf(scene, streamOf(scene, 'fine')))[0]!
  const position = await positionOf(scene, await poison(scene, 'wrong'))
  const [head, rows] = [await headOf(scene), await dumpSchema(scene.database.url, schema)]
  const wrong: [words: string[], code: number, said: string][] = [
    [['replay', 'trace-unknown'], 1, 'trace-unknown is not in quarantine'],
    [['replay', streamOf(scene, 'fine')], 1, 'is not in quarantine'],
    [['skip', '--position', `${fine}`, '--why', 'x'], 1, `no event at position ${fine}`],
    [['skip', '--position', '0', '--why', 'x'], 2, 'A position is a whole number'],
    [['skip', '--position', position], 2, '--why'],
    [['skip', '--position', position, '--why', ' '], 2, 'It must not be empty'],
  ]
  for (const [words, code, said] of wrong) {
    const { how, out, err } = await tracebook(scene, 'log', ...words)
    assert.equal([how, out], [code, ''], words.join(' '))
    assert.match(err, said)
  }
  assert.is(await headOf(scene), head)
  assert.equal(await dumpSchema(scene.database.url, schema), rows)
})

test('need no service that runs where the database does', async (scene) => {
  const stream = await poison(scene, 'still')
  const exploded = streamOf(scene, 'still exploded')
  const other = `${await append(scene, exploded, 'Exploded', {})}`
  await until(async () => (await listed(scene)).some(({ position }) => position === other))
  await allow(scene, 'still')
  await scene.service.end('SIGTERM')
  assert.is((await tracebook(scene, 'log', 'quarantine')).how, 3)
  assert.is((await tracebook(scene, 'log', 'replay', stream)).how, 0)
  const skipped = await tracebook(scene, 'log', 'skip', '--position', other, '--why', 'a test')
  assert.is(skipped.how, 0)
  assert.match(skipped.out, 'as soon as a projector comes to it')
  scene.service = await serve(scene)
  assert.equal(await textsOf(scene, 'still'), ['one', 'two'])
  await until(async () => !(await listed(scene)).some(({ position }) => position === other))
})

test('refuse a log that the read models do not belong to', async (scene) => {
  const stream = await poison(scene, 'other')
  await allow(scene, 'other')
  const rows = await dumpSchema(scene.database.url, schema)
  const { rows: known } = await sql(scene, 'select id from tracebook.followed_log')
  await sql(scene, 'update tracebook.followed_log set id = gen_random_uuid()')
  for (const words of [
    ['replay', stream],
    ['skip', '--position', await positionOf(scene, stream), '--why', 'x'],
  ]) {
    const { how, err } = await tracebook(scene, 'log', ...words)
    assert.is(how, 1)
    assert.match(err, 'belong to another log')
  }
  await onServer(scene.database.url, 'update tracebook.followed_log set id = $1', [known[0]!.id])
  assert.equal(await dumpSchema(scene.database.url, schema), rows)
})

test('say so when a database has no read models', async (scene) => {
  const database = await freshDatabase()
  const { how, err } = await tracebook({ ...scene, database }, 'log', 'quarantine')
  await database.drop()
  assert.is(how, 1)
  assert.match(err, `the database has no read models ${schema}`)
})

test.run()
