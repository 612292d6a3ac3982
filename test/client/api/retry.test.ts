import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestFailed } from '../../../src/client/api/errors.ts'
import { type RetryTiming, withConnectionNotice, withRetry, withSignal } from '../../../src/client/api/retry.ts'
import { newTestTiming } from '../support/timing.ts'

const test = suite('requests that are repeated')

const away = () => new RequestFailed('cannot reach http://h: connection refused')
const busy = (retryAfterMs?: number) =>
  new RequestFailed('not now', { status: 503, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })

/** A request that fails in these ways, one after the other, and then succeeds. */
const failing = (...errors: readonly Error[]) => {
  const left = [...errors]
  return async () => {
    const error = left.shift()
    if (error) throw error
    return 'done'
  }
}
const times = (count: number, error: () => Error) => Array.from({ length: count }, error)
const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => assert.unreachable() as never,
    (error: unknown) => error as Error,
  )
const told = (timing: RetryTiming) => {
  const said: string[] = []
  return { said, timing: withConnectionNotice(timing, (state) => said.push(state)) }
}

test('requests to an unreachable service are repeated for two minutes; then the error says what to check', async () => {
  const { timing, waits } = newTestTiming()
  const { message } = await failureOf(withRetry(failing(...times(1_000, away)), timing))
  assert.is(Math.round(waits.reduce((sum, ms) => sum + ms, 0)), 120_000)
  assert.ok(Math.max(...waits) <= 10_000)
  assert.is(
    message,
    'cannot reach http://h: connection refused (tried for 2 minutes). Is the server running, and is this its address?',
  )
})

test('a request with less patience fails sooner', async () => {
  const { timing, waits } = newTestTiming()
  await failureOf(withRetry(failing(...times(1_000, away)), { ...timing, patienceMs: 10_000 }))
  assert.is(Math.round(waits.reduce((sum, ms) => sum + ms, 0)), 10_000)
})

test('delays are random, so that clients do not repeat their requests at the same time', async () => {
  const waits: number[][] = []
  for (const random of [0, 0.999]) {
    const test = newTestTiming()
    await withRetry(failing(...times(5, away)), { ...test.timing, random: () => random })
    waits.push(test.waits)
  }
  assert.ok(waits[0]!.every((ms, i) => ms > 0 && ms < waits[1]![i]!))
})

test('a repeated request waits as long as Retry-After says; if that is too long, it fails', async () => {
  const { timing, waits } = newTestTiming()
  await withRetry(failing(busy(40_000)), { ...timing, patienceMs: 10_000 })
  assert.ok(waits[0]! >= 40_000 && waits[0]! <= 44_000)
  const { message } = await failureOf(withRetry(failing(busy(600_000)), timing))
  assert.is(message, 'not now (asks to wait 10 minutes)')
})

test('an outage or a busy server is reported once, and its end too', async () => {
  for (const [error, state] of [
    [away, 'out of reach'],
    [busy, 'busy'],
  ] as const) {
    // prettier-ignore
    const { said, timing } = told(newTestTiming().timing)
    await withRetry(failing(...times(8, () => error())), timing)
    await withRetry(failing(), timing)
    assert.equal(said, [state, 'back'])
  }
})

test('a short outage is not reported, and simultaneous requests report a longer one only once', async () => {
  const short = told(newTestTiming().timing)
  await withRetry(failing(away()), short.timing)
  assert.equal(short.said, [])
  const long = told(newTestTiming().timing)
  await Promise.all(times(3, away).map(() => withRetry(failing(...times(4, away)), long.timing)))
  assert.equal(long.said.slice(0, 2), ['out of reach', 'back'])
})

test('a refusal is not repeated: it is thrown at once, and ends an outage', async () => {
  const { said, timing } = told(newTestTiming().timing)
  const refusal = new RequestFailed('no', { status: 403 })
  assert.is(await failureOf(withRetry(failing(...times(5, away), refusal), timing)), refusal)
  assert.equal(said, ['out of reach', 'back'])
})

test('an abort signal ends a delay, and prevents further requests', async () => {
  const ended = new AbortController()
  const timing = withSignal({ ...newTestTiming().timing, sleep: () => new Promise(() => {}) }, ended.signal)
  const waiting = failureOf(withRetry(failing(away()), timing))
  const reason = new Error('ended')
  setImmediate(() => ended.abort(reason))
  assert.is(await waiting, reason)
  let asked = 0
  assert.is(await failureOf(withRetry(async () => void asked++, timing)), reason)
  assert.is(asked, 0)
})

test.run()
