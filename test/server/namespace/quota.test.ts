import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newQuota } from '../../../src/server/namespace/quota.ts'
import { errorOf } from '../../eventstore/log/support/events.ts'
import { until } from '../../support/until.ts'

const test = suite('a quota')

/** A namespace of what is shown, and writes that end when they are told to. */
const newWorld = (limit: number) => {
  const shown = { used: 0 }
  const quota = newQuota({ limit, unit: 'things', readUsage: async () => shown.used })
  const write = (amount: number) => {
    const end = Promise.withResolvers<'stored' | 'failed'>()
    const reserved: number[] = []
    const outcome = quota
      .enforce('n', async (reserve) => {
        reserve(amount)
        reserved.push(amount)
        if ((await end.promise) === 'failed') throw new Error('failed')
        shown.used += amount
        return 'stored'
      })
      .catch((error: Error & { code?: string }) => error.code ?? error.message)
    return { outcome, end: end.resolve, reserved }
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
  await until(() => first.reserved.length === 1)
  const second = write(1)
  second.end('stored')
  first.end('failed')
  assert.equal([await first.outcome, await second.outcome], ['failed', 'stored'])
})

test('a write also waits for one whose repeated decision reserves nothing', async () => {
  const { quota } = newWorld(1)
  const [claimed, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = quota.enforce('n', async (reserve) => {
    reserve(1)
    claimed.resolve()
    await go.promise
    reserve(0)
  })
  await claimed.promise
  const second = quota.enforce('n', async (reserve) => reserve(1))
  go.resolve()
  await Promise.all([first, second])
})

test('a write that adds nothing is never refused; one that exceeds an empty namespace always is', async () => {
  const { shown, quota } = newWorld(3)
  shown.used = 100
  await quota.enforce('n', async (reserve) => reserve(0))
  await quota.enforce('n', async (reserve) => reserve(-5))
  const refusal = async (amount: number) =>
    (await errorOf(quota.enforce('n', async (reserve) => reserve(amount)))) as Error & { code: string }
  assert.is((await refusal(1)).code, 'quota_exceeded')
  assert.is((await refusal(4)).code, 'payload_too_large')
})

test('a reservation replaces the earlier one of the same write, and namespaces are independent', async () => {
  const { quota } = newWorld(2)
  await quota.enforce('n', async (reserve) => {
    for (let i = 0; i < 5; i++) reserve(2)
    await quota.enforce('other', async (reserveOther) => reserveOther(2))
  })
})

test.run()
