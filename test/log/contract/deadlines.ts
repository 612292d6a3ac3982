import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import { type EventLog, LogUnavailable } from '../../../src/log/log.ts'
import { until } from '../../support/until.ts'
import { aStream, all, errorOf, numbered } from '../support/events.ts'
import type { World } from '../support/world.ts'

/** Sends an append with a time of its own to a server that holds it until that is over. */
const sendLate = async (log: EventLog, stream: string, hold: NonNullable<World['hold']>, beside = () => {}) => {
  const held = await hold()
  const start = performance.now()
  const time = start + 1_000
  const expected = (await log.last(stream))?.revision ?? 'none'
  const late = log.append(stream, expected, numbered(1), time).catch((error: unknown) => error)
  beside()
  await until(held.isWaiting)
  const onItsWay = performance.now() - start // a server counts the time from when it gets the append
  await until(() => performance.now() > time + onItsWay + 50)
  await held.release()
  assert.instance(await late, LogUnavailable)
}

export const deadlines = (test: Test<World>): void => {
  test('an append with a deadline is stored before it', async ({ log }) => {
    const stream = aStream()
    const events = numbered(2)
    const first = await log.append(stream, 'none', events, performance.now() + 60_000)
    assert.is(first.revision, 1n)
    assert.equal(await log.append(stream, 'none', events, performance.now() + 60_000), first, 'also a second time')
    assert.is((await all(log.read(stream))).length, 2)
  })

  test('an append whose deadline has passed is not stored', async ({ log }) => {
    const stream = aStream()
    const error = await errorOf(log.append(stream, 'none', numbered(1), performance.now() - 1))
    assert.instance(error, LogUnavailable)
    await log.append(stream, 'none', numbered(2), performance.now() + 60_000)
    assert.is((await all(log.read(stream))).length, 2)
  })

  test('an append that the server processes after the deadline is not stored', async ({ log, hold }) => {
    if (!hold) return
    const stream = aStream()
    await log.append(stream, 'none', numbered(1))
    await sendLate(log, stream, hold)
    await log.append(aStream(), 'none', numbered(1)) // it comes behind the late one
    await log.append(stream, 0n, numbered(1, 1))
    assert.is((await all(log.read(stream))).length, 2)
  })

  test('an expired append does not shorten the wait of others', async ({ log, hold }) => {
    if (!hold) return
    const others: Promise<unknown>[] = []
    await sendLate(log, aStream(), hold, () => {
      for (let i = 0; i < 3; i++) others.push(log.append(aStream(), 'none', numbered(1)))
    })
    await Promise.all(others)
  })
}
