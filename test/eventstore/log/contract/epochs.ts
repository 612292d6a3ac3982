import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventLog, LogChanged, type LogIdentity, type RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { until } from '../../../support/until.ts'
import { aStream, all, bodies, errorOf, followPrefix, numbered } from '../support/events.ts'
import type { World } from '../support/world.ts'

/** Follows to the end of the log; `ended` resolves when the follower ends. */
const followToEnd = async (log: EventLog) => {
  const stop = new AbortController()
  const following = log.follow({ after: await log.head(), signal: stop.signal })[Symbol.asyncIterator]()
  await following.next()
  const ended = errorOf(
    (async () => {
      while (!(await following.next()).done);
    })(),
  )
  return { ended, stop: () => stop.abort() }
}

/** All that a log says of its epochs. */
const changesOf = (log: EventLog): LogIdentity[] => {
  const changes: LogIdentity[] = []
  log.onChange((identity) => void changes.push(identity))
  return changes
}

export const epochs = (test: Test<World>): void => {
  test('a new epoch is begun once, and every process that has the log open notices it', async ({ open }) => {
    const logs = [open(), open(), open()]
    const stream = aStream()
    await logs[0]!.append(stream, 'none', numbered(2))
    const changes = logs.map(changesOf)
    const followers = await Promise.all(logs.map(followToEnd))
    const before = await logs[0]!.identity()
    const renewed = await logs[0]!.renewEpoch(before.epoch)
    assert.is(renewed.id, before.id)
    assert.is.not(renewed.epoch, before.epoch)
    for (const { ended } of followers) assert.instance(await ended, LogChanged)
    for (const noted of changes) {
      await until(() => noted.length > 0)
      assert.equal(noted, [{ ...renewed, hasLostEnd: false }])
    }
    assert.equal(await open().renewEpoch(before.epoch), renewed, 'the epoch that was seen has ended')
  })

  test('a log that was opened in an epoch before says of every call that it has changed', async ({ open }) => {
    const [log, other] = [open(), open()]
    const stream = aStream()
    const { revision, position } = await log.append(stream, 'none', numbered(2))
    const [{ id }] = (await all(other.read(stream))) as [RecordedEvent]
    await other.identity()
    await log.renewEpoch((await log.identity()).epoch)
    for (const one of [log, other]) {
      await until(() =>
        one.identity().then(
          () => false,
          () => true,
        ),
      )
      const calls = [
        one.append(stream, revision, numbered(1)),
        all(one.read(stream)),
        all(one.readRevisions(stream, [0n])),
        one.last(stream),
        all(one.readAll({ after: 0n })),
        one.truncate(stream, 1n),
        one.head(),
        one.identity(),
        one.holds(position, id),
        followPrefix(one, stream, { after: 0n, count: 1 }),
      ]
      for (const error of (await Promise.all(calls.map(errorOf))) as Error[])
        assert.ok(
          [error, error.cause].some((reason) => reason instanceof LogChanged),
          String(error),
        )
    }
  })

  test('opened again, the log has its events and goes on', async ({ open }) => {
    const log = open()
    const stream = aStream()
    const { revision } = await log.append(stream, 'none', numbered(2))
    await log.renewEpoch((await log.identity()).epoch)
    const again = open()
    await again.append(stream, revision, numbered(1, 2))
    assert.equal(bodies(await all(again.read(stream))), ['{"n":0}', '{"n":1}', '{"n":2}'])
    const seen = await followPrefix(again, stream, { after: 0n, count: 3 })
    assert.equal(bodies(seen), ['{"n":0}', '{"n":1}', '{"n":2}'])
  })
}
