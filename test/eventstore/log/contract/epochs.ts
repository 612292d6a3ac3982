import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventLog, LogChanged, type LogIdentity } from '../../../../src/eventstore/log/log.ts'
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
  test('a new epoch is begun once, and every process notices it without an error', async ({ open }) => {
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
    for (const [i, log] of logs.entries()) {
      await until(() => changes[i]!.length > 0)
      assert.equal(changes[i], [{ ...renewed, hasLostEnd: false }])
      assert.equal(await log.renewEpoch(before.epoch), renewed, 'the epoch that was seen has ended')
    }
  })

  test('the events stay, and the log goes on', async ({ open }) => {
    const [log, other] = [open(), open()]
    const stream = aStream()
    const { revision } = await log.append(stream, 'none', numbered(2))
    await log.renewEpoch((await log.identity()).epoch)
    const append = () => other.append(stream, revision, more).catch(() => undefined)
    const more = numbered(1, 2)
    await until(async () => (await append()) !== undefined)
    assert.equal(bodies(await all(log.read(stream))), ['{"n":0}', '{"n":1}', '{"n":2}'])
    const seen = await followPrefix(other, stream, { after: 0n, count: 3 })
    assert.equal(bodies(seen), ['{"n":0}', '{"n":1}', '{"n":2}'])
  })
}
