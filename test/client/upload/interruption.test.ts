import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/client/agents/support/sqlite/load.ts'
import { STATE_FILE } from '../../../src/client/state/state-file.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { refusal } from '../support/service-world.ts'
import type { Fault } from '../support/server.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('an interrupted sync')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const session = (count: number) => Array.from({ length: count }, (_, i) => userLine(`u-${i}`, `message ${i}`))
const isBatch = (path: string) => path.endsWith('/batch')
const batches = ({ server }: ClientWorld) => server.requests.filter(({ path }) => isBatch(path)).length

/** The n-th batch, counted from 1, and all after it meet `fault`. */
const fromBatch = ({ server }: ClientWorld, n: number, fault: Fault): void => {
  let seen = 0
  server.fault = ({ path }) => (isBatch(path) && ++seen >= n ? fault : undefined)
}
const once = ({ server }: ClientWorld, fault: Fault): void => {
  let met = false
  server.fault = ({ path }) => (isBatch(path) && !met ? ((met = true), fault) : undefined)
}

test('after an interruption, the next run sends only the messages that have not arrived', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(700))
  fromBatch(world, 3, 'cut before')
  const { summary } = await world.sync()
  // Two batches have arrived, whichever came first.
  const arrived = world.server.traces[0]!.messages.size
  assert.ok(arrived === 400 || arrived === 300, `${arrived}`)
  assert.equal([summary.messages, summary.failed, summary.exitCode], [arrived, 1, 1])
  assert.match(summary.stopped!, /cannot reach .*tried for 2 minutes.*Run the same command again/)

  world.server.fault = () => undefined
  world.server.requests.length = 0
  const next = await world.sync()
  assert.equal(world.server.writes(), Array(2).fill('POST /v1/traces/s-1/messages/batch'))
  assert.equal([next.summary.new, next.summary.exitCode], [700 - arrived, 0])
  assert.is(world.server.traces[0]?.messages.size, 700)
})

test('if uploads cannot be recorded, the run ends and says so once', async ({ world }) => {
  await world.sync()
  const database = openDatabase(join(world.config, 'data', STATE_FILE))
  database.exec(`CREATE TRIGGER full BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`)
  for (let i = 1; i <= 12; i++) writeSession(world.sessions, `s-${i}.jsonl`, session(1))
  const { summary, events } = await world.sync()
  assert.match(
    summary.stopped!,
    /cannot be recorded in .*uploads\.sqlite: the disk is full\. Run the same command again/,
  )
  assert.is(events.filter(({ type }) => type === 'problem').length, 1)
  assert.is(summary.exitCode, 1)

  database.exec('DROP TRIGGER full')
  database.close()
  assert.is((await world.sync()).summary.exitCode, 0)
})

test('a batch whose response was lost is found on the server by the next run, and not sent again', async ({
  world,
}) => {
  writeSession(world.sessions, 's-1.jsonl', session(400))
  fromBatch(world, 2, 'cut after')
  await world.sync()
  world.server.fault = () => undefined
  const { summary } = await world.sync()
  assert.equal([summary.unchanged, summary.messages, summary.exitCode], [1, 0, 0])
  assert.is(world.server.traces[0]?.messages.size, 400)
})

test('if the response to creating a trace was lost, the next run finds its own trace', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(1))
  world.server.fault = ({ method }) => (method === 'PUT' ? 'cut after' : undefined)
  await world.sync()
  world.server.fault = () => undefined
  assert.is((await world.sync()).summary.new, 1)
  assert.equal(
    world.server.traces.map(({ externalId }) => externalId),
    ['s-1'],
  )
})

test('a single lost connection is recovered from within the run', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(3))
  once(world, 'cut after')
  const { summary } = await world.sync()
  assert.equal([summary.messages, summary.exitCode], [3, 0])
  assert.equal(world.waits, [250])
})

test('a busy server is given the time that it asks for', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(3))
  for (const status of [429, 503]) {
    once(world, refusal(status, { 'retry-after': '7' }))
    assert.is((await world.sync({ force: true })).summary.exitCode, 0)
  }
  assert.equal(
    world.waits.map((ms) => ms >= 7_000 && ms < 8_000),
    [true, true],
  )
})

test('a server that stays busy is given up after two minutes, with longer waits each time', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(3))
  fromBatch(world, 1, refusal(503))
  const { summary } = await world.sync()
  assert.equal(world.waits.slice(0, 5), [250, 500, 1_000, 2_000, 4_000])
  const waited = world.waits.reduce((sum, ms) => sum + ms, 0)
  assert.equal([batches(world), waited], [world.waits.length + 1, 120_000])
  assert.is(summary.exitCode, 1)
})

test('a server that asks for more than two minutes is not waited for', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(3))
  fromBatch(world, 1, refusal(429, { 'retry-after': '3600' }))
  const { summary } = await world.sync()
  assert.is(batches(world), 1)
  assert.match(summary.stopped!, /asks to wait 60 minutes/)
})

test('an error that will not pass is not retried', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', session(3))
  fromBatch(world, 1, refusal(500))
  assert.is((await world.sync()).summary.failed, 1)
  assert.is(batches(world), 1)
})

test('when the server is unreachable, the other files are not tried', async ({ world }) => {
  for (const name of ['s-1.jsonl', 's-2.jsonl']) writeSession(world.sessions, name, session(1))
  world.server.fault = ({ path }) => (path.startsWith('/v1/traces') ? 'cut before' : undefined)
  const { events } = await world.sync()
  assert.is(events.filter(({ type }) => type === 'session').length, 1)
})

test('a session that ends during the run stops it and asks to log in again', async ({ world }) => {
  for (const name of ['s-1.jsonl', 's-2.jsonl']) writeSession(world.sessions, name, session(1))
  fromBatch(world, 1, refusal(401))
  const { summary } = await world.sync()
  assert.match(summary.stopped!, /tracebook login/)
  assert.equal([summary.failed, summary.exitCode], [1, 2])
})

test.run()
