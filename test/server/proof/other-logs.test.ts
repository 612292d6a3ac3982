import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { storeEventsSingly } from '../../support/single-events.ts'
import { newId } from '../../../src/base/ids.ts'
import { copyLog } from '../../../src/eventstore/log/copy/copy.ts'
import { openEventStoreLog } from '../../../src/eventstore/log/eventstoredb/eventstoredb-log.ts'
import type { EventLog } from '../../../src/eventstore/log/log.ts'
import { openPostgresLog } from '../../../src/eventstore/log/postgres/postgres-log.ts'
import { wholeAppends } from '../../../src/eventstore/log/whole-appends.ts'
import { migrate } from '../../../src/eventstore/postgres/migrate.ts'
import { copyTree } from '../../../src/server/proof/copy-tree.ts'
import { lossText, parseLoss } from '../../../src/server/proof/losses.ts'
import { startTreeProcess } from '../../../src/server/proof/process.ts'
import { TreeDiffers } from '../../../src/server/proof/stored-tree.ts'
import { logEvents } from '../../../src/server/proof/verify/log-events.ts'
import { numbered } from '../../eventstore/log/support/events.ts'
import { type Database, freshDatabase, onServer } from '../../support/database.ts'
import { type Double, startDouble } from '../../support/eventstoredb/server.ts'
import { outage, silent } from '../../support/silent.ts'
import { until } from '../../support/until.ts'
import { leavesIn, signer } from './support.ts'
import { fillLog, findingsOf, openFilled, storedCheckpoint } from './verify/support.ts'

type Scene = { double: Double; ends: (() => Promise<unknown>)[] }

/** Leaves and log are in different places: the log may lose its end, or be moved, and the leaves stay. */
const test = suite<Scene>('proof: other logs')
test.before.each(async (scene) => {
  scene.double = await startDouble()
  scene.ends = [scene.double.stop]
})
test.after.each(async ({ ends }) => {
  for (const end of ends.reverse()) await end()
})

const newDatabase = async ({ ends }: Scene): Promise<Database> => {
  const database = await freshDatabase()
  ends.push(database.drop)
  await migrate(database.url)
  return database
}

/** The log as it is now: opened again, because a log that was opened in an epoch before says of every call that it has changed. */
const openEventStore = ({ double, ends }: Scene): EventLog => {
  const log = wholeAppends(openEventStoreLog({ url: double.url }))
  ends.push(log.close)
  return log
}

const start = ({ url }: Database, log: EventLog, said: string[] = []) => {
  const say = (data: object, message: string) => void said.push(`${message} ${JSON.stringify(data)}`)
  const logger = { ...silent, info: say, error: say }
  return startTreeProcess({ url, log, signer, now: Date.now, logger, outage })
}

/** Waits until the tree has so many leaves and a checkpoint of them all. */
const untilSize = ({ url }: Database, size: number) =>
  until(
    async () =>
      (
        await onServer(
          url,
          'select from tracebook.audit_keys, tracebook.tree t where t.size = $1 and audit_keys.size = $1 and walk_size is null',
          [size],
        )
      ).rows.length > 0,
  )

const check = (database: Database, log: EventLog, options = {}) =>
  findingsOf(database, options, { ...logEvents(log), close: async () => {} })

test('a log in EventStoreDB is covered and verified like one in PostgreSQL', async (scene) => {
  const [database, log] = [await newDatabase(scene), openEventStore(scene)]
  const proof = start(database, log)
  scene.ends.push(proof.close)
  await fillLog(log)
  const size = (await Array.fromAsync(log.readAll({ after: 0n }))).length
  await untilSize(database, size)
  assert.equal(await check(database, log), [])
  await onServer(database.url, `update tracebook.leaves set hash = sha256('x') where index = 5`)
  assert.ok((await check(database, log)).some(({ kind, leaf }) => kind === 'changed' && leaf === 5))
})

test('of a log that has lost its end the leaves stay, and new events come after them', async (scene) => {
  const { double } = scene
  const [database, first] = [await newDatabase(scene), openEventStore(scene)]
  const said: string[] = []
  const proof = start(database, first, said)
  scene.ends.push(proof.close)
  const stream = `thing-${newId()}`
  const { revision } = await first.append(stream, 'none', numbered(10))
  const count = double.store.all().length
  const { revision: end } = await first.append(stream, revision, numbered(20, 10))
  await untilSize(database, 30)
  const [before, published] = [await leavesIn(database), await storedCheckpoint(database)]

  const changed = new Promise((resolve) => first.onChange(resolve))
  await double.stop()
  double.store.keepFirst(count)
  await double.start()
  await changed
  await proof.close()
  const log = openEventStore(scene)
  scene.ends.push(start(database, log, said).close)
  await until(() => said.some((line) => line.includes('lost its end')))
  await until(async () => (await leavesIn(database)).filter(({ lost }) => lost !== null).length === 20)
  await until(() =>
    log.append(stream, revision, numbered(4, 100)).then(
      () => true,
      () => false,
    ),
  )
  await untilSize(database, 34)
  const after = await leavesIn(database)
  assert.equal(
    after.slice(0, 30).map(({ hash }) => hash),
    before.map(({ hash }) => hash),
  )
  const { epoch } = await log.identity()
  assert.equal(
    after.map(({ lost }) => lost),
    [...Array<null>(10).fill(null), ...Array<string>(20).fill(epoch), ...Array<null>(4).fill(null)],
  )
  const found = await check(database, log, { kept: published })
  assert.equal([...new Set(found.map((finding) => `${finding.kind} ${finding.epoch}`))], [`lost ${epoch}`])
  assert.equal(
    found.map(({ stream, revision }) => [stream, revision]),
    Array.from({ length: 20 }, (_, i) => [stream, BigInt(i + 10)]),
  )
  assert.is(end, 29n)

  const told = said.map((line) => /"accept":"([^"]+)"/.exec(line)?.[1]).filter((text) => text !== undefined)
  const acceptedLosses = told.map((text) => parseLoss(text)!)
  assert.equal([...new Set(told)].length, 1)
  const unaccepted = async () => (await check(database, log, { acceptedLosses })).filter((one) => !one.isAccepted)
  assert.equal(await unaccepted(), [])
  // The same epoch is no excuse for other events: before the lost ones, behind them, or in the place of one of them.
  for (const set of [
    'lost = $1 where index = 4',
    'lost = $1 where index = 32',
    'lost = null where index = 15',
    'lost = case index when 15 then null else $1::uuid end where index in (9, 15)',
  ]) {
    await onServer(database.url, 'create table public.kept as table tracebook.leaves')
    await onServer(database.url, `update tracebook.leaves set ${set}`, set.includes('$1') ? [epoch] : [])
    assert.ok(
      (await unaccepted()).some((finding) => finding.kind === 'lost' && finding.epoch === epoch),
      set,
    )
    await onServer(
      database.url,
      'truncate tracebook.leaves; insert into tracebook.leaves table public.kept; drop table public.kept',
    )
  }
})

test('a loss is written and read as one word', () => {
  const loss = { epoch: newId(), from: 3, to: 9, count: 7, digest: 'ab'.repeat(32) }
  assert.equal(parseLoss(lossText(loss)), loss)
  for (const text of [loss.epoch, `${lossText(loss)} `, lossText(loss).replace(/.$/, 'g'), ''])
    assert.is(parseLoss(text), undefined)
})

test('a copy in another log is matched with the leaves of the first, including erased ones', async (scene) => {
  const filled = await openFilled()
  scene.ends.push(filled.close)
  const published = await storedCheckpoint(filled.database)
  const size = (await leavesIn(filled.database)).length
  const adapter = openEventStoreLog({ url: scene.double.url })
  const source = openPostgresLog({ url: filled.database.url })
  await copyLog({ from: source, to: adapter })
  await Promise.all([adapter.close(), source.close()])
  const database = await newDatabase(scene)
  assert.is(await copyTree(filled.database.url, database.url), size)
  assert.is(await copyTree(filled.database.url, database.url), size, 'once more')

  const log = openEventStore(scene)
  const proof = start(database, log)
  scene.ends.push(proof.close)
  await log.append(`thing-${newId()}`, 'none', numbered(3))
  await untilSize(database, size + 3)
  assert.equal(
    (await leavesIn(database)).slice(0, size).map(({ hash, lost }) => [hash, lost]),
    (await leavesIn(filled.database)).map(({ hash }) => [hash, null]),
  )
  assert.equal(await check(database, log, { kept: published }), [])
  await copyTree(filled.database.url, database.url)
  const other = await openFilled()
  scene.ends.push(other.close)
  const refused = await copyTree(filled.database.url, other.database.url).catch((error: unknown) => error)
  assert.instance(refused, TreeDiffers)
})

test('a copy that differs from the leaves is refused with an error, and they stay as they are', async (scene) => {
  const filled = await openFilled()
  scene.ends.push(filled.close)
  const source = openPostgresLog({ url: filled.database.url })
  const database = await newDatabase(scene)
  await copyTree(filled.database.url, database.url)
  await storeEventsSingly(filled.database.url)
  await onServer(
    filled.database.url,
    `update log.events set data = '{"n":"forged"}' where position =
    (select position from log.events where type = 'MessageAdded' order by position limit 1 offset 40)`,
  )
  const adapter = openEventStoreLog({ url: scene.double.url })
  await copyLog({ from: source, to: adapter })
  await Promise.all([adapter.close(), source.close()])
  const before = await leavesIn(database)
  const said: string[] = []
  const proof = start(database, openEventStore(scene), said)
  scene.ends.push(proof.close)
  await until(() => said.some((line) => line.includes('not continued') && line.includes('differs from its leaf')))
  assert.ok(proof.isRefused())
  assert.equal(await leavesIn(database), before)
})

test('the process may be stopped anywhere while it matches a log with the leaves', async (scene) => {
  const filled = await openFilled()
  scene.ends.push(filled.close)
  const size = (await leavesIn(filled.database)).length
  const source = openPostgresLog({ url: filled.database.url })
  const target = await newDatabase(scene)
  const copy = openPostgresLog({ url: target.url, maxAppendBytes: 5_000 })
  await copyLog({ from: source, to: copy })
  await source.close()
  await copyTree(filled.database.url, target.url)
  const log = wholeAppends(copy)
  scene.ends.push(log.close)
  const isWalking = async () =>
    (await onServer(target.url, 'select from tracebook.tree where walk_size is not null')).rows.length > 0
  for (let i = 0; i < 4; i++) {
    const proof = start(target, log)
    await until(async () => (await isWalking()) || proof.leaves() === size)
    await proof.close()
  }
  const proof = start(target, log)
  scene.ends.push(proof.close)
  await untilSize(target, size)
  assert.equal(await findingsOf(target), [])
})

test.run()
