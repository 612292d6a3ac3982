import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Price, type Tokens, costOf, priceIn } from '../../../src/server/models/cost.ts'

const test = suite('cost')

test('prices are read from a catalogue, and nothing but numbers from 0 on', () => {
  assert.equal(
    priceIn({
      input: 3,
      output: 15,
      cache_read: 0.3,
      cache_write: 3.75,
      reasoning: 20,
      input_audio: 32,
      tiers: [{ input: 6, tier: { type: 'context', size: 200_000 } }],
      context_over_200k: { input: 6, output: 22.5, cache_read: '0.6', reasoning: -1 },
    }),
    {
      input: 3,
      output: 15,
      cacheRead: 0.3,
      cacheWrite: 3.75,
      reasoning: 20,
      over200k: { input: 6, output: 22.5 },
    },
  )
  assert.equal(priceIn({ input: 0, output: Infinity, cache_read: null, context_over_200k: 6 }), { input: 0 })
  for (const none of [undefined, null, {}, 'free', { input: '1' }, { context_over_200k: {} }])
    assert.is(priceIn(none), undefined)
})

const opus: Price = { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }
const plain: Price = { input: 2, output: 8 }
const thinking: Price = { input: 1, output: 4, reasoning: 10 }
const tiered: Price = { ...opus, over200k: { input: 10, output: 37.5 } }

/** Dollars by hand: tokens times dollars per million. */
const costs: readonly (readonly [string, Price, Tokens, boolean, number | undefined])[] = [
  ['each kind has its price', opus, { inputTokens: 100_000, outputTokens: 10_000 }, false, 0.5 + 0.25],
  ['reads from a cache', opus, { cacheReadTokens: 1_000_000 }, false, 0.5],
  ['writes to a cache', opus, { cacheWriteTokens: 80_000 }, false, 0.5],
  ['a cache without prices is input', plain, { cacheReadTokens: 500_000, cacheWriteTokens: 250_000 }, false, 1 + 0.5],
  ['reasoning is output', plain, { outputTokens: 1_000_000, reasoningTokens: 400_000 }, false, 8],
  ['reasoning has a price', thinking, { outputTokens: 1_000_000, reasoningTokens: 400_000 }, false, 2.4 + 4],
  ['no more reasoning than output', thinking, { outputTokens: 100_000, reasoningTokens: 300_000 }, false, 1],
  ['a long context that is not over 200,000', tiered, { inputTokens: 100_000, outputTokens: 8_000 }, false, 0.5 + 0.2],
  ['a context over 200,000', tiered, { inputTokens: 100_000, outputTokens: 8_000 }, true, 1 + 0.3],
  ['kinds that have no price over 200,000', tiered, { cacheReadTokens: 300_000 }, true, 0.15],
  ['over 200,000 without such prices', opus, { inputTokens: 300_000 }, true, 1.5],
  ['a cache over 200,000 is input', { ...plain, over200k: { input: 4 } }, { cacheReadTokens: 250_000 }, true, 1],
  ['what is free', { input: 0, output: 0 }, { inputTokens: 5, outputTokens: 6 }, false, 0],
  ['no tokens', opus, { inputTokens: 0 }, false, 0],
  ['no tokens of a kind without a price', { input: 1 }, { inputTokens: 1_000_000, outputTokens: 0 }, false, 1],
  ['a missing price', { input: 1 }, { inputTokens: 1, outputTokens: 1 }, false, undefined],
  ['a missing price of input for a cache', { output: 1 }, { cacheReadTokens: 1, outputTokens: 1 }, false, undefined],
  ['nothing known', opus, {}, false, undefined],
  ['only reasoning known', opus, { reasoningTokens: 5 }, false, undefined],
]

for (const [name, price, tokens, isOver200k, dollars] of costs)
  test(name, () => {
    const cost = costOf(price, tokens, isOver200k)
    if (cost === undefined || dollars === undefined) assert.is(cost, dollars)
    else assert.is(cost.toFixed(9), dollars.toFixed(9))
  })

const dollars = fc.option(
  fc.integer({ min: 0, max: 100_000 }).map((mills) => mills / 1_000),
  { nil: undefined },
)
const prices = fc.record({
  input: dollars,
  output: dollars,
  cacheRead: dollars,
  cacheWrite: dollars,
  reasoning: dollars,
})
const anyPrice = fc
  .record({ prices, over200k: prices })
  .map(({ prices, over200k }): Price => JSON.parse(JSON.stringify({ ...prices, over200k })))
const count = fc.nat(1_000_000)
const anyTokens = fc
  .record({ input: count, cacheRead: count, cacheWrite: count, reasoning: count, spoken: count })
  .map(({ input, cacheRead, cacheWrite, reasoning, spoken }) => ({
    inputTokens: input,
    outputTokens: reasoning + spoken,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  }))

test('a sum costs what its parts cost', () => {
  fc.assert(
    fc.property(anyPrice, fc.array(anyTokens, { minLength: 1 }), fc.boolean(), (price, parts, isOver200k) => {
      const sum = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
      for (const part of parts) for (const kind of Object.keys(sum) as (keyof typeof sum)[]) sum[kind] += part[kind]
      const costs = parts.map((part) => costOf(price, part, isOver200k))
      const cost = costOf(price, sum, isOver200k)
      if (costs.includes(undefined)) return assert.is(cost, undefined)
      const expected = (costs as number[]).reduce((a, b) => a + b, 0)
      assert.ok(Math.abs(cost! - expected) <= 1e-9 * Math.max(1, expected), `${cost} is not ${expected}`)
    }),
  )
})

test.run()
