import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newQuota } from '../../../src/server/namespace/quota.ts'
import { assertFits } from '../../../src/server/namespace/room.ts'
import { errorOf } from '../../eventstore/log/support/events.ts'
import { until } from '../../support/until.ts'

const test = suite('a quota')

/** A namespace of what is shown, and writes that end when they are told to. */
const newWorld = (limit: number, timeoutMs?: number) => {
  const shown = { used: 0 }
  const options = timeoutMs === undefined ? {} : { timeoutMs }
  const quota = newQuota({ limit, unit: 'things', readUsage: async () => shown.used, ...options })
  /** Adds an amount, which it knows to be at most `most`. */
  const write = (amount: number, most = amount) => {
    const end = Promise.withResolvers<'stored' | 'failed'>()
    const rooms: number[] = []
    const outcome = quota
      .enforce('n', most, async (room) => {
        rooms.push(room.free)
        assertFits(room, amount)
        if ((await end.promise) === 'failed') throw new Error('failed')
        shown.used += amount
        return 'stored'
      })
      .catch((error: Error & { code?: string }) => error.code ?? error.message)
    return { outcome, end: end.resolve, rooms }
  }
  return { shown, write, quota }
}

test('as many writes succeed as there is room for, and not one more', async () => {
  const { shown, write } = newWorld(3)
  const writes = Array.from({ length: 10 }, () => write(1))
  for (const { end } of writes) end('stored')
  const outcomes = await Promise.all(writes.map(({ outcome }) => outcome))
  assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 3)
  assert.equal(outcomes.filter((outcome) => outcome === 'quota_exceeded').length, 7)
  assert.is(shown.used, 3)
})

test('a write waits for others before it is refused, because they may fail', async () => {
  const { write } = newWorld(1)
  const first = write(1)
  await until(() => first.rooms.length === 1)
  const second = write(1)
  second.end('stored')
  first.end('failed')
  assert.equal([await first.outcome, await second.outcome], ['failed', 'stored'])
})

test('a write also waits for one that adds less than it has reserved', async () => {
  const { shown, write } = newWorld(3)
  const first = write(0, 3)
  await until(() => first.rooms.length === 1)
  const second = write(2, 3)
  for (const { end } of [first, second]) end('stored')
  assert.equal([await first.outcome, await second.outcome], ['stored', 'stored'])
  assert.equal([first.rooms, second.rooms], [[3], [3]])
  assert.is(shown.used, 2)
})

test('a write that has waited for too long gets what others leave', async () => {
  const { write } = newWorld(5, 0)
  const first = write(3)
  await until(() => first.rooms.length === 1)
  const second = write(3)
  assert.equal([await second.outcome, second.rooms], ['quota_exceeded', [2]])
  const third = write(2, 3)
  third.end('stored')
  assert.equal([await third.outcome, third.rooms], ['stored', [2]])
  first.end('stored')
  assert.is(await first.outcome, 'stored')
})

test('what was added while the usage was read counts, although that may not show it', async () => {
  let used = 0
  const reading = Promise.withResolvers<void>()
  let reads = 0
  const readUsage = async () => {
    const read = used
    if (++reads === 2) await reading.promise
    return read
  }
  const quota = newQuota({ limit: 3, unit: 'things', readUsage })
  const second = Promise.withResolvers<unknown>()
  await quota.enforce('n', 2, async () => {
    second.resolve(errorOf(quota.enforce('n', 2, async (room) => assertFits(room, 2))))
    await until(() => reads === 2)
    used += 2
  })
  reading.resolve()
  assert.is(((await second.promise) as { code?: string }).code, 'quota_exceeded')
})

test('a full namespace, or one that holds too much, gives no room, and a write that adds nothing needs none', async () => {
  const { shown, write, quota } = newWorld(3)
  shown.used = 100
  for (const amount of [0, -5]) {
    const { outcome, end, rooms } = write(amount, 2)
    end('stored')
    assert.equal([await outcome, rooms], ['stored', [0]])
  }
  const refusal = async (amount: number) =>
    (await errorOf(quota.enforce('n', amount, async (room) => assertFits(room, amount)))) as Error & { code: string }
  assert.is((await refusal(1)).code, 'quota_exceeded')
  assert.is((await refusal(4)).code, 'payload_too_large')
})

test('namespaces are independent, and without a limit there is always room', async () => {
  const { quota } = newWorld(2)
  await quota.enforce('n', 2, (room) => quota.enforce('other', 2, async (other) => assert.equal(other, room)))
  const none = newQuota({ limit: undefined, unit: 'things', readUsage: () => assert.unreachable() as never })
  await none.enforce('n', 5, async (room) => assertFits(room, Number.MAX_SAFE_INTEGER))
})

test.run()
