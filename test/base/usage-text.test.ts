import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  costFacts,
  costText,
  dollarsText,
  shortTokenFacts,
  tokenCounts,
  tokenFacts,
  tokensText,
  unpricedText,
} from '../../src/base/usage-text.ts'

const test = suite('texts of usage')

test('tokens have three digits, or a tenth of a unit', () => {
  const table: readonly (readonly [count: number, text: string])[] = [
    [0, '0'],
    [7, '7'],
    [999, '999'],
    [1_000, '1.0 k'],
    [1_249, '1.2 k'],
    [12_345, '12.3 k'],
    [99_949, '99.9 k'],
    [99_950, '100 k'],
    [212_000, '212 k'],
    [999_499, '999 k'],
    [999_500, '1.0 M'],
    [1_900_000, '1.9 M'],
    [212_345_678, '212 M'],
    [999_500_000, '1.0 B'],
    [3_210_000_000, '3.2 B'],
    [1.5e12, '1.5 T'],
    [Number.MAX_SAFE_INTEGER, '9007 T'],
  ]
  assert.equal(
    table.map(([count]) => tokensText(count)),
    table.map(([, text]) => text),
  )
})

test('dollars have cents, below one cent four decimals', () => {
  const table: readonly (readonly [usd: number, text: string])[] = [
    [0, '$0.00'],
    [1e-9, 'under $0.0001'],
    [0.000_099, 'under $0.0001'],
    [0.0001, '$0.0001'],
    [0.0042, '$0.0042'],
    [0.009_94, '$0.0099'],
    [0.009_95, '$0.01'],
    [0.013, '$0.01'],
    [0.5, '$0.50'],
    [12.34, '$12.34'],
    [999.994, '$999.99'],
    [999.995, '$1,000.00'],
    [1_204, '$1,204.00'],
    [1_234_567.891, '$1,234,567.89'],
  ]
  assert.equal(
    table.map(([usd]) => dollarsText(usd)),
    table.map(([, text]) => text),
  )
})

test('what was written to the cache is input, thinking is output, and what is not known is not 0', () => {
  assert.equal(tokenCounts({ inputTokens: 4, cacheWriteTokens: 100, cacheReadTokens: 3_000, outputTokens: 20 }), {
    input: 104,
    cached: 3_000,
    output: 20,
    thinking: undefined,
    all: 3_124,
  })
  const { input, all, thinking } = tokenCounts({ cacheWriteTokens: 5, reasoningTokens: 3 })
  assert.equal([input, all, thinking], [5, 5, 3])
  assert.equal(
    Object.values(tokenCounts()),
    Array.from({ length: 5 }, () => undefined),
  )
})

test('facts leave out what is not known, and that nothing was thinking', () => {
  const usage = { inputTokens: 1_200, cacheReadTokens: 34_500_000, outputTokens: 900, reasoningTokens: 300 }
  assert.equal(tokenFacts(usage), ['1.2 k in', '34.5 M cached', '900 out', '300 of them thinking'])
  assert.equal(tokenFacts({ ...usage, reasoningTokens: 0 }), tokenFacts(usage).slice(0, -1))
  assert.equal(tokenFacts({ outputTokens: 0 }), ['0 out'])
  assert.equal(tokenFacts({ reasoningTokens: 5 }), ['5 thinking'])
  assert.equal(shortTokenFacts(usage), ['1.2 k tokens in', '34.5 M cached', '900 out'])
  assert.equal(shortTokenFacts({ outputTokens: 7, reasoningTokens: 5 }), ['7 tokens out'])
  assert.equal([tokenFacts({}), tokenFacts(undefined)], [[], []])
})

test('a cost says if it is of a price list, and if models are without a price, which it names', () => {
  assert.is(costText({ usd: 4.12, of: 'reported' }), '$4.12')
  assert.is(costText({ usd: 4.12, of: 'prices' }), '$4.12 at list prices')
  assert.is(costText({ usd: 0.0042, of: 'mixed' }), '$0.0042, in part at list prices')
  assert.is(costText({ usd: 4.12, of: 'prices', unpriced: ['a'] }), 'at least $4.12 at list prices')
  assert.equal([unpricedText(), unpricedText([])], [undefined, undefined])
  assert.is(unpricedText(['a']), 'no price is known for a')
  assert.equal(costFacts({ usd: 2, of: 'reported', unpriced: ['a'] }), ['at least $2.00', 'no price is known for a'])
  assert.equal(costFacts({ usd: 2, of: 'reported' }), ['$2.00'])
  assert.is(unpricedText(['a', 'b', 'c/d']), 'no price is known for a, b, and c/d')
})

test.run()
