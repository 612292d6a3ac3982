import { copyFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { storeEventsSingly } from '../../support/single-events.ts'
import { mainGroup } from '../../../projections/index.ts'
import { schemaOf } from '../../../src/eventstore/engine/group.ts'
import { traceId } from '../../../src/base/ids.ts'
import { openAdapter } from '../../../src/eventstore/log/open-log.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { historySettings, writeCatalogue, writeHistory } from '../../eventstore/log/support/history.ts'
import { dumpSchema } from '../../support/dump-schema.ts'
import { onServer } from '../../support/database.ts'
import { startDouble } from '../../support/eventstoredb/server.ts'
import type { App } from '../../support/open-app.ts'
import { WITH_WORKER, type Person, newEmptyWorld, signIn } from '../../support/world.ts'
import { sweepAll } from '../../support/sweep.ts'
import { until } from '../../support/until.ts'
import { endedBy } from '../support/ended-by.ts'
import { run } from '../support/user.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('tracebook audit export and import')
const schema = schemaOf(mainGroup)
const ends: (() => Promise<unknown>)[] = []
test.after.each(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

type Place = {
  readonly url: string
  readonly EVENTSTORE_URL: string
  readonly open: (env?: Record<string, string>) => Promise<App>
}

/** An empty database, and with `eventStore` an empty log beside it. */
const newPlace = async (eventStore: boolean): Promise<Place> => {
  const double = eventStore ? await startDouble() : undefined
  if (double) ends.push(double.stop)
  const EVENTSTORE_URL = double?.url ?? ''
  const { database, openNode, close } = await newEmptyWorld({
    readModels: false,
    env: { ...WITH_WORKER, EVENTSTORE_URL },
  })
  ends.push(close)
  return { url: database.url, EVENTSTORE_URL, open: (env = {}) => openNode({ env }) }
}

const newFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tracebook-export-'))
  ends.push(() => rm(folder, { recursive: true }))
  return folder
}

const audit = ({ url, EVENTSTORE_URL }: Place, ...words: string[]) =>
  run(['audit', ...words], { DATABASE_URL: url, EVENTSTORE_URL })

const settled = async ({ service }: App, { url }: Place) => {
  await service.visible(await service.log.head())
  await sweepAll(url)
}

const untilErased = ({ url }: Place) =>
  until(async () => (await onServer(url, 'select from tracebook.erasures')).rows.length === 0)

const put = ({ send }: Person, path: string, body: object = {}) => send('PUT', `/v1/traces/${path}`, body)

// EventStoreDB stores large events in several records, each with a revision: in Postgres there is room for these.
for (const [from, to, places] of [
  [false, true, false],
  [true, false, true],
  [false, false, true],
] as const) {
  test(`from ${from ? 'EventStoreDB' : 'Postgres'} to ${to ? 'EventStoreDB' : 'Postgres'}: the read models are the same`, async () => {
    const [source, target, folder] = [await newPlace(from), await newPlace(to), await newFolder()]
    const file = join(folder, 'log.ndjson')
    await writeCatalogue(folder, '2026-01')
    const app = await source.open(historySettings(folder))
    await app.service.visible((await app.service.catalogue.refresh()).position)
    const { token } = await writeHistory(app, source.url)
    await untilErased(source)
    await settled(app, source)
    await app.close()
    const exported = await audit(source, 'export', '--out', file)
    assert.is(exported.how, 0, exported.err)
    assert.is((await stat(file)).mode & 0o777, 0o600)
    assert.is((await audit(source, 'export', '--out', file)).how, 1, 'a file is never overwritten')
    const verified = await audit(source, 'export', '--verify', file)
    assert.equal([verified.how, verified.err], [0, ''])
    assert.match(verified.out, 'The log does not differ.\n')

    const imported = await audit(target, 'import', file)
    assert.is(imported.how, 0, imported.err)
    const again = await audit(target, 'import', file)
    assert.match(again.out, ' 0 of them imported now')
    const other = await target.open({ SUMMARY_PROVIDER: 'none' })
    await untilErased(target)
    await settled(other, target)
    const compared = { places, positions: places && from === to }
    const [expected, found] = await Promise.all([source, target].map(({ url }) => dumpSchema(url, schema, compared)))
    for (const [table, lines] of Object.entries(expected!))
      if (table !== 'reached') assert.equal(found![table], lines, table)
    assert.equal(Object.keys(found!), Object.keys(expected!))

    const gone = await other.call('PUT', '/v1/traces/gone?unlessDeleted=true', { token, body: {} })
    assert.is(gone.status, 410, 'what was deleted is remembered')
    const ada = await signIn(other, 'ada')
    await put(ada, 'after')
    const refused = await audit(target, 'import', file)
    assert.is(refused.how, 1)
    assert.match(refused.err, 'the target has more events than the source')
  })
}

test('an import into a log that is not empty, and one of a part of a log, are refused', async () => {
  const [source, target, folder] = [await newPlace(false), await newPlace(false), await newFolder()]
  const file = join(folder, 'log.ndjson')
  const app = await source.open()
  const ada = await signIn(app, 'device')
  await put(ada, 't')
  assert.is((await audit(source, 'export', '--out', file)).how, 0)
  const other = await target.open()
  await signIn(other, 'other')
  const head = await other.service.log.head()
  const refused = await audit(target, 'import', file)
  assert.is(refused.how, 1)
  assert.match(refused.err, 'the target has an event that the source does not have there')
  assert.equal(await typesSince(other.service.log, head), [])

  const part = join(folder, 'part.ndjson')
  assert.is((await audit(source, 'export', '--namespace', ada.namespaceSlug, '--out', part)).how, 0)
  const alone = await audit(await newPlace(false), 'import', part)
  assert.match(alone.err, 'The file holds a part of a log')
  const lines = (await readFile(file, 'utf8')).replace('TraceCreated', 'TraceDreamed')
  await writeFile(file, lines)
  const empty = await newPlace(false)
  const changed = await audit(empty, 'import', file)
  assert.match(changed.err, 'line 7: unknown event type TraceDreamed')
  const log = await openAdapter(empty.url)
  assert.equal(await typesSince(log, 0n).finally(() => log.close()), [])
})

test('an import that a signal ends says how far it came and ends with the code of the signal; another run goes on', async () => {
  const [source, target, folder] = [await newPlace(false), await newPlace(false), await newFolder()]
  const file = join(folder, 'log.ndjson')
  const app = await source.open()
  await put(await signIn(app, 'device'), 't')
  assert.is((await audit(source, 'export', '--out', file)).how, 0)
  const variables = { DATABASE_URL: target.url, EVENTSTORE_URL: '' }
  const { how, out, err } = await endedBy('SIGINT', target.url, ['audit', 'import', file], variables)
  assert.equal([how, out], [130, ''])
  assert.match(err, /Stopped after \d+ events\. Run it again to continue\.\ntracebook: interrupted by Ctrl-C/)
  assert.match((await audit(target, 'import', file)).out, /[1-9]\d* of them imported now\. Verified/)
})

const eventsIn = async (file: string) =>
  (await readFile(file, 'utf8')).split('\n').slice(1, -2).map((line) => JSON.parse(line) as { stream: string; type: string; data: string }) // prettier-ignore

test('the export of a namespace has its events and those of its traces; that of a trace only its own', async () => {
  const [source, folder] = [await newPlace(false), await newFolder()]
  const app = await source.open()
  const [ada, bob] = [await signIn(app, 'ada'), await signIn(app, 'bob')]
  for (const [session, name] of [
    [ada, 'a'],
    [bob, 'b'],
    [ada, 'gone'],
    [ada, 'c'],
  ] as const)
    await put(session, name, { title: `of ${name}` })
  await put(ada, 'a/messages/m', { role: 'user' })
  await ada.send('DELETE', '/v1/traces/gone')
  await untilErased(source)
  const file = join(folder, 'n.ndjson')
  assert.is((await audit(source, 'export', '--namespace', ada.namespaceSlug, '--out', file)).how, 0)
  const stream = (name: string) => `trace-${traceId(ada.namespaceId, name)}`
  const found = (await eventsIn(file)).map(({ stream, type }) => `${stream} ${type}`)
  const own = `namespace-${ada.namespaceId}`
  assert.equal(found, [
    `${own} NamespaceCreated`,
    `${own} MemberJoined`,
    `${stream('a')} TraceCreated`,
    `${stream('c')} TraceCreated`,
    `${stream('a')} MessageAdded`,
    `${stream('a')} MessagesCounted`,
    `${stream('gone')} TraceDeleted`,
  ])
  assert.is((await audit(source, 'export', '--verify', file)).how, 0)
  await put(ada, 'a', { title: 'later' })
  const resumed = await audit(source, 'export', '--resume', file)
  assert.is(resumed.how, 0, resumed.err)
  assert.is((await eventsIn(file)).length, 8)

  const [byName, byId] = [join(folder, 'name.ndjson'), join(folder, 'id.ndjson')]
  await audit(source, 'export', '--namespace', ada.namespaceSlug, '--trace', 'a', '--out', byName)
  await audit(source, 'export', '--trace', traceId(ada.namespaceId, 'a'), '--out', byId)
  assert.is((await eventsIn(byName)).length, 4)
  assert.equal(await eventsIn(byName), await eventsIn(byId))
  assert.is((await audit(source, 'export', '--trace', 'a')).how, 2)
  assert.is((await audit(source, 'export', '--trace', 'a', '--resume', file)).how, 2)
})

test('an export that was cut off anywhere continues, and the file has the same bytes as after one run', async () => {
  const [source, folder] = [await newPlace(false), await newFolder()]
  const [file, cut] = [join(folder, 'log.ndjson'), join(folder, 'cut.ndjson')]
  const app = await source.open()
  const ada = await signIn(app, 'device')
  for (let i = 0; i < 20; i++) await put(ada, `t${i}`, { title: `${i}` })
  await app.close()
  assert.is((await audit(source, 'export', '--out', file)).how, 0)
  const whole = await readFile(file)
  for (const part of [0.2, 0.6, 0.99, 1]) {
    await copyFile(file, cut)
    await truncate(cut, Math.floor(whole.length * part))
    const { how, err } = await audit(source, 'export', '--resume', cut)
    assert.is(how, 0, err)
    assert.ok((await readFile(cut)).equals(whole), `${part}`)
  }
  await truncate(cut, 10)
  assert.match((await audit(source, 'export', '--resume', cut)).err, 'the file has no header')
  const other = await newPlace(true) // databases of tests may be copies of one, log and all
  await (await other.open()).close()
  assert.match((await audit(other, 'export', '--resume', file)).err, 'The file is of another log')
  assert.match((await audit(other, 'export', '--verify', file)).err, 'The file is of another log')
  assert.is((await audit(other, 'export', '--verify', file, '--offline')).how, 0)
  const { out } = await audit(source, 'export')
  const eventLines = (text: string) => text.split('\n').slice(1, -2)
  assert.equal(eventLines(out), eventLines(whole.toString()))
})

test('--verify names differences between the log and a file, and events erased since do not count', async () => {
  const [source, folder] = [await newPlace(false), await newFolder()]
  const file = join(folder, 'log.ndjson')
  const app = await source.open()
  const ada = await signIn(app, 'device')
  for (const name of ['a', 'b', 'gone']) await put(ada, name, { title: name })
  assert.is((await audit(source, 'export', '--out', file)).how, 0)
  await ada.send('DELETE', '/v1/traces/gone')
  await untilErased(source)
  await put(ada, 'later')
  const since = await audit(source, 'export', '--verify', file)
  assert.equal([since.how, since.err], [0, ''])
  assert.match(since.out, 'The log does not differ; 1 of its events have been erased since.')
  await app.close()
  const stream = (name: string) => `trace-${traceId(ada.namespaceId, name)}`
  await storeEventsSingly(source.url)
  await onServer(source.url, `update log.events set data = '{}' where stream = $1`, [stream('a')])
  await onServer(source.url, 'delete from log.events where stream = $1', [stream('b')])
  const { how, out } = await audit(source, 'export', '--verify', file)
  assert.is(how, 3)
  assert.match(out, new RegExp(`position \\d+: TraceCreated, ${stream('a')} revision 0: different data in the log`))
  assert.match(out, new RegExp(`position \\d+: TraceCreated, ${stream('b')} revision 0: not in the log`))
  assert.match(out, '2 differences; 1 of its events have been erased since')
})

test('traces that were deleted before an export are not in it, even if they are not erased yet', async () => {
  const [source, folder] = [await newPlace(false), await newFolder()]
  const app = await source.open({ ROLES: 'api,projector' })
  const ada = await signIn(app, 'device')
  await put(ada, 't', { title: 'secret' })
  await put(ada, 'stays', { title: 'open' })
  await ada.send('DELETE', '/v1/traces/t')
  const log = wholeAppends(await openAdapter(source.url))
  const text = JSON.stringify((await Array.fromAsync(log.readAll({ after: 0n }))).map(({ data }) => data))
  await log.close()
  assert.match(text, 'secret')
  for (const scope of [[], ['--namespace', ada.namespaceSlug], ['--trace', traceId(ada.namespaceId, 't')]]) {
    const { how, out } = await audit(source, 'export', ...scope)
    assert.is(how, 0)
    assert.match(out, 'TraceDeleted')
    assert.not.match(out, 'secret')
  }
  const file = join(folder, 'log.ndjson')
  await audit(source, 'export', '--out', file)
  assert.is((await audit(source, 'export', '--verify', file)).how, 0)
})

test.run()
