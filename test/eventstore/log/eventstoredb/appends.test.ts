import { status } from '@grpc/grpc-js'
import * as assert from 'uvu/assert'
import { LogUnavailable, type NewEvent, WrongRevision } from '../../../../src/eventstore/log/log.ts'
import { wholeAppends } from '../../../../src/eventstore/log/whole-appends.ts'
import { failure, notLeader } from '../../../support/eventstoredb/faults.ts'
import { aStream, all, anAppend, bodies, errorOf, essence, numbered } from '../support/events.ts'
import { eventStoreSuite } from '../support/eventstoredb-scene.ts'
import { bodyOf } from '../support/segments.ts'
import { until } from '../../../support/until.ts'

const test = eventStoreSuite('appends to EventStoreDB')

test('appends never use the batch path or the expected revision ANY, and are never empty', async ({ open, double }) => {
  const log = wholeAppends(open({ maxAppendBytes: 500 }))
  await log.append('a', 'none', numbered(3))
  await log.append('a', 2n, anAppend(bodyOf(2_000, 1), '{}'))
  await errorOf(log.append('a', 'none', numbered(1)))
  await errorOf(log.append('a', 'none', []))
  await log.truncate('a', 2n)
  await log.truncate('a', 3n)
  assert.is(double.faults.count('batchAppend'), 0)
  assert.is(double.faults.count('features'), 0, 'only the batch path asks for them')
  assert.equal(Object.keys(double.appends.expected).sort(), ['no_stream', 'revision'])
  assert.is(double.appends.empty, 0)
})

test('at most 64 appends and 64 reads are in flight, with separate limits', async (scene) => {
  const { open, double } = scene
  const log = open({ deadlineMs: 60_000 })
  double.faults.stall('append')
  double.faults.stall('read')
  const appends = Array.from({ length: 200 }, () => log.append(aStream(), 'none', numbered(1)))
  const reads = Array.from({ length: 200 }, () => log.head())
  await until(() => double.appends.open === 64 && double.openReads() === 64)
  for (let i = 0; i < 200; i++) await new Promise(setImmediate)
  assert.equal([double.appends.open, double.openReads()], [64, 64])
  double.faults.resume()
  await Promise.all([...appends, ...reads])
  assert.is(double.appends.most, 64)
})

test('a server that was unreachable for long is used by the first call after it is back', async ({ open, double }) => {
  const log = open({ deadlineMs: 500 })
  await log.append('a', 'none', numbered(1))
  await double.stop()
  for (let i = 0; i < 8; i++) await Promise.all([errorOf(log.append('a', 0n, numbered(1))), errorOf(log.head())])
  await double.start()
  await Promise.all([log.append('b', 'none', numbered(1)), log.head()])
})

test('a connection that is silently dead is given up at a deadline', async ({ open, double }) => {
  const log = open({ deadlineMs: 100 })
  double.faults.stall('append')
  // On a busy machine the deadline may pass before the connection is there.
  await until(async () => {
    assert.instance(await errorOf(log.append('a', 'none', numbered(1))), LogUnavailable)
    return double.appends.peers.size > 0
  })
  const dead = double.appends.peers.size
  double.faults.resume()
  const isAppended = () => log.append('b', 'none', numbered(1)).then(Boolean, () => false)
  await until(isAppended)
  assert.ok(double.appends.peers.size > dead)
})

test('an event that cannot be serialised is refused before the client sees it', async ({ open, double }) => {
  const log = open()
  const [good] = anAppend('{}')
  const bad: Partial<Record<keyof NewEvent, unknown>>[] = [
    { data: undefined },
    { data: 1n },
    { data: { n: 1n } },
    { data: '' },
    { data: '{"n":' },
    { data: '"\ud800"' },
    { metadata: undefined },
    { metadata: '' },
    { metadata: '{' },
    { type: '' },
    { type: undefined },
    { id: 'not-a-uuid' },
    { id: good!.id.toUpperCase() },
  ]
  for (const part of bad) {
    const error = await errorOf(log.append('a', 'none', [good!, { ...good!, ...part } as NewEvent]))
    assert.ok(error instanceof TypeError || error instanceof SyntaxError)
  }
  assert.is(double.faults.count('append'), 0)
  await log.append('a', 'none', numbered(1))
})

test('an append whose answer was lost is found again, also after a restart', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(2))
  double.faults.forgetNext('reset')
  assert.is((await log.append('a', 1n, numbered(2, 2))).revision, 3n)
  double.faults.forgetNext('silence', 2)
  const waiting = ['a', 'b'].map((stream) => log.append(stream, stream === 'a' ? 3n : 'none', numbered(2)))
  await until(() => double.store.stream('tracebook.b') !== undefined)
  await double.stop()
  await double.start()
  assert.equal(
    (await Promise.all(waiting)).map(({ revision }) => revision),
    [5n, 1n],
  )
  assert.equal([(await all(log.read('a'))).length, (await all(log.read('b'))).length], [6, 2])
})

/** More answers than an append waits for before its deadline. */
const ALL = 9

test('an append that may have been stored is never reported as refused', async ({ open, double }) => {
  const log = open({ deadlineMs: 200 })
  double.faults.forgetNext('silence', ALL)
  assert.is(((await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable).stored, 'unknown')
  double.faults.forgetNext('silence', ALL)
  const lost = errorOf(log.append('b', 'none', numbered(1)))
  await until(() => double.store.stream('tracebook.b') !== undefined)
  await double.stop()
  assert.is(((await lost) as LogUnavailable).stored, 'unknown', 'what follows were refusals, the first attempt was not')
  assert.is(double.store.stream('tracebook.b')!.length, 1)
})

test('an unreachable server leads to a refusal at the deadline, and is used when it is back', async ({
  open,
  double,
}) => {
  const log = open({ deadlineMs: 300 })
  await double.stop()
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.instance(error.cause, Error)
  for (const failed of await Promise.all([log.head(), all(log.read('a')), log.truncate('a', 1n)].map(errorOf)))
    assert.instance(failed, LogUnavailable)
  const patient = open({ deadlineMs: 60_000 })
  const waiting = [patient.append('a', 'none', numbered(1)), patient.head()]
  await errorOf(log.head())
  await double.start()
  await Promise.all(waiting)
  assert.equal(bodies(await all(log.read('a'))), ['{"n":0}'])
})

test('a refused append is not stored later', async ({ open, double }) => {
  const log = open({ deadlineMs: 200 })
  double.faults.forgetNext('silence', ALL)
  const errors = await Promise.all(
    [log.append('a', 'none', numbered(1)), log.append('a', 0n, numbered(1))].map(errorOf),
  )
  assert.equal(
    errors.map((error) => (error as LogUnavailable).stored),
    ['unknown', false],
  )
  double.faults.forgetNothing()
  await log.append('b', 'none', numbered(1))
  assert.is((await all(log.read('a'))).length, 1)
})

test('a new leader is followed', async ({ open, double, another }) => {
  const log = open()
  await log.append('a', 'none', numbered(1))
  const leader = await another()
  double.faults.setLeader('127.0.0.1', leader.port)
  await log.append('b', 'none', numbered(1))
  assert.is(leader.store.stream('tracebook.b')?.length, 1)
  assert.is((await all(log.read('b'))).length, 1)
  assert.is(await log.head(), leader.store.all().at(-1)!.position)
})

test('a conflict names the head of the stream, also after failures', async ({ open, double }) => {
  const log = open()
  await log.append('a', 'none', numbered(8))
  double.faults.failNext('append', notLeader('127.0.0.1', double.port), 2)
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as WrongRevision
  assert.instance(error, WrongRevision)
  assert.equal([error.stream, error.actual], ['a', 7n])
})

test('a server limit below ours is reported at once, and nothing of the append stays', async ({ open, another }) => {
  const small = await another({ maxAppendSize: 1_000 })
  const log = open({ url: small.url, deadlineMs: 60_000 })
  const error = (await errorOf(log.append('a', 'none', anAppend(bodyOf(900, 1), bodyOf(900, 2))))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.match(error.message, 'maxAppendBytes')
  assert.equal(await all(log.read('a')), [])
  const fitting = wholeAppends(open({ url: `${small.url}&maxAppendBytes=1000` }))
  await fitting.append('a', 'none', anAppend(bodyOf(900, 1), bodyOf(900, 2), bodyOf(5_000, 3)))
  assert.is((await all(fitting.read('a'))).length, 3)
})

test('a request that a server finds invalid is not sent again, also by an error that the client does not know', async ({
  open,
  double,
}) => {
  const log = open({ deadlineMs: 60_000 })
  const invalid = (exception: string) => failure(status.INVALID_ARGUMENT, 'Event exceeds the maximum.', { exception })
  double.faults.failNext('append', invalid('maximum-append-event-size-exceeded'))
  const error = (await errorOf(log.append('a', 'none', numbered(1)))) as LogUnavailable
  assert.instance(error, LogUnavailable)
  assert.is(error.stored, false)
  assert.match(error.message, /^an event is larger than the log accepts: set maxAppendBytes/)
  double.faults.failNext('append', invalid('of-a-newer-server'))
  assert.match(((await errorOf(log.append('a', 'none', numbered(1)))) as Error).message, 'Event exceeds the maximum.')
  assert.is(double.faults.count('append'), 2)
})

test('the default limit fits the default limit of a server', async ({ open }) => {
  const log = wholeAppends(open())
  const events = anAppend(bodyOf(700_000, 1), bodyOf(700_000, 2), bodyOf(log.maxAppendBytes + 1, 3))
  await log.append('a', 'none', events)
  assert.equal(bodies(await all(log.read('a'))), bodies(events))
})

test('wrong clocks do no harm', async ({ open, another }) => {
  const now = Date.now
  const ahead = await another({ now: () => now() + 86_400_000 })
  const log = open({ url: ahead.url })
  try {
    for (const skew of [-3_600_000, -20_000, 3_600_000]) {
      Date.now = () => now() + skew
      const stream = aStream()
      await log.append(stream, 'none', numbered(1))
      assert.is((await all(log.read(stream)))[0]!.metadata.includes('"at":1'), true)
    }
  } finally {
    Date.now = now
  }
})

test('a repetition of truncated events is answered with a position that is not too early', async ({ open }) => {
  const log = open()
  const events = numbered(2)
  const first = await log.append('a', 'none', events)
  await log.append('a', 1n, numbered(2))
  await log.truncate('a', 3n)
  const again = await log.append('a', 'none', events)
  assert.is(again.revision, first.revision)
  assert.ok(again.position >= first.position)
})

test('closing a log does not disturb the calls of another in the same process', async ({ open, double }) => {
  const [mine, theirs] = [open(), open()]
  double.faults.stall('append')
  const appends = Array.from({ length: 40 }, () => mine.append(aStream(), 'none', numbered(1)))
  await until(() => double.appends.open === 40)
  await theirs.close()
  double.faults.resume()
  assert.is((await Promise.all(appends)).length, 40)
})

test('close ends pending calls, refuses new ones, and can be repeated', async ({ open }) => {
  const log = open()
  const waiting = Array.from({ length: 100 }, (_, i) =>
    log.append(i < 50 ? 'a' : aStream(), i === 0 || i >= 50 ? 'none' : BigInt(i - 1), numbered(1)),
  )
  let settled = 0
  for (const append of waiting) void append.then(() => (settled += 1))
  const closing = log.close()
  assert.is(((await errorOf(log.append('b', 'none', numbered(1)))) as LogUnavailable).stored, false)
  await closing
  assert.is(settled, 100)
  await log.close()
})

test('an event comes back the same from its stream and from the whole log', async ({ open }) => {
  const log = open()
  await log.append('b', 'none', numbered(1))
  const [event] = await all(log.read('b'))
  const [same] = await all(log.readAll({ after: 0n }))
  assert.is(essence(event!), essence(same!))
})

test.run()
