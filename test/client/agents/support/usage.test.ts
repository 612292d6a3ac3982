import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { uncached, usageOf, withMadeId } from '../../../../src/client/agents/support/usage.ts'

const test = suite('what an answer has used, as agents store it')

test('only what is known is there, in one order', () => {
  const usage = usageOf({ responseId: 'r-1', outputTokens: 3, inputTokens: '4', cacheReadTokens: -1, costUsd: 0.5 })
  assert.is(JSON.stringify(usage), '{"outputTokens":3,"costUsd":0.5,"responseId":"r-1"}')
  assert.equal(usageOf({ inputTokens: 0, outputTokens: 2 }), { inputTokens: 0, outputTokens: 2 })
})

test('nothing, or nothing but zeros, is no usage', () => {
  assert.is(usageOf({}), undefined)
  assert.is(usageOf({ responseId: 'r-1' }), undefined)
  assert.is(usageOf({ inputTokens: 0, outputTokens: 0, costUsd: 0, responseId: 'r-1' }), undefined)
})

test('an id that the service would refuse is left out', () => {
  for (const responseId of ['', 'x'.repeat(201), 'a\0', '\ud800', 7])
    assert.equal(usageOf({ outputTokens: 1, responseId }), { outputTokens: 1 })
})

test('of an input the cached tokens are taken off, if it is known', () => {
  assert.is(uncached(10, 4), 6)
  assert.is(uncached(10, undefined), 10)
  assert.is(uncached(4, 10), 0)
  assert.is(uncached(undefined, 10), undefined)
})

test('an id is made of time, model and numbers, so that a copy has the same', () => {
  const made = (output: number, time: number, model?: string) =>
    withMadeId(usageOf({ outputTokens: output }), time, model)?.responseId
  assert.is(made(1, 2, 'm'), made(1, 2, 'm'))
  assert.is(new Set([made(1, 2, 'm'), made(2, 2, 'm'), made(1, 3, 'm'), made(1, 2)]).size, 4)
  assert.is(withMadeId(undefined, 2, 'm'), undefined)
})

test.run()
