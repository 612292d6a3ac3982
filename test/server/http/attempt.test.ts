import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newAttempt } from '../../../src/server/http/attempt.ts'
import type { Caller } from '../../../src/server/http/caller.ts'
import type { HttpError } from '../../../src/server/http/http-error.ts'
import { newNodeLimit } from '../../../src/server/http/node-limit.ts'

const test = suite('attempts to authenticate')

const POINTS = 5

/** Look-ups that wait for their answers, and attempts of one address. */
const newWorld = () => {
  const lookUps: PromiseWithResolvers<Caller | undefined>[] = []
  const find = async (_token: string, beforeLookUp: () => void) => {
    beforeLookUp()
    const lookUp = Promise.withResolvers<Caller | undefined>()
    lookUps.push(lookUp)
    return lookUp.promise
  }
  const unauthorized = newNodeLimit({ shared: { add: async () => undefined }, points: POINTS, elapsed: () => 0 })
  const attempt = () => newAttempt({ tokens: { find }, limits: { unauthorized } }, '192.0.2.1')
  const send = () =>
    attempt()
      .callerOf('token')
      .then(
        (caller) => (caller ? 'known' : 'unknown'),
        (error: Error) => ('code' in error ? (error as HttpError).code : error.message),
      )
  return { lookUps, attempt, send }
}
const times = <T>(count: number, work: () => T) => Array.from({ length: count }, work)

test('of any number of concurrent attempts no more are looked up than the limit', async () => {
  const { lookUps, send } = newWorld()
  const sent = times(3 * POINTS, send)
  assert.equal(
    await Promise.all(sent.slice(POINTS)),
    times(2 * POINTS, () => 'rate_limited'),
  )
  assert.is(lookUps.length, POINTS)
  for (const lookUp of lookUps) lookUp.resolve(undefined)
  assert.equal(
    await Promise.all(sent.slice(0, POINTS)),
    times(POINTS, () => 'unknown'),
  )
  assert.is(await send(), 'rate_limited')
})

test('attempts with valid tokens do not count, nor those whose look-up failed', async () => {
  const { lookUps, send } = newWorld()
  for (let i = 0; i < 3 * POINTS; i++) {
    const sent = send()
    if (i % 2) lookUps.at(-1)!.resolve({} as Caller)
    else lookUps.at(-1)!.reject(new Error('away'))
    assert.is(await sent, i % 2 ? 'known' : 'away')
  }
})

test('look-ups of other secrets count in the same way', async () => {
  const { attempt } = newWorld()
  const lookUp = (found: string | undefined) =>
    attempt()
      .resultOf(async () => found)
      .catch((error: HttpError) => error.code)
  for (let i = 0; i < 3 * POINTS; i++) assert.is(await lookUp('code'), 'code')
  for (let i = 0; i < POINTS; i++) assert.is(await lookUp(undefined), undefined)
  assert.is(await lookUp('code'), 'rate_limited')
})

test('an attempt without a token counts once it has failed, and only once', () => {
  const { attempt } = newWorld()
  for (let i = 0; i < POINTS; i++) {
    const { fail } = attempt()
    fail()
    fail()
  }
  assert.throws(attempt().fail, (error: HttpError) => error.code === 'rate_limited')
})

test.run()
