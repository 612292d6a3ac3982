import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { priceIn } from '../../../src/server/models/cost.ts'
import { type ModelEntry, newLookup } from '../../../src/server/models/lookup.ts'
import { normalizeModelId } from '../../../src/server/models/normalized-id.ts'
import { type PriceChange, newPriceHistory } from '../../../src/server/models/price-history.ts'

const test = suite('price history')

type Named = { readonly name: string; readonly cost: Record<string, unknown> }

const change = (
  position: number,
  providerId: string,
  models: Readonly<Record<string, Named | undefined>>,
  replacesAll = false,
): PriceChange => ({ position: BigInt(position), providerId, replacesAll, models: new Map(Object.entries(models)) })

const gpt = (input: number, name = 'GPT-5.5'): Named => ({ name, cost: { input } })

test('a price holds from the position of its event on, until the next one', () => {
  const history = newPriceHistory()
  history.apply(change(10, 'openai', { 'gpt-5.5': gpt(5), 'gpt-5': { name: 'GPT-5', cost: {} } }, true))
  history.apply(change(20, 'openai', { 'gpt-5.5': gpt(4) }))
  history.apply(change(30, 'openai', {}, true))
  history.apply(change(40, 'openai', { 'gpt-5.5': gpt(3) }, true))
  const at = (position: number) => history.at('gpt-5.5-high', BigInt(position))?.input
  assert.equal(
    [9, 10, 19, 20, 29, 30, 39, 40, 99].map(at),
    [, 5, 5, 4, 4, , , 3, 3].map((price) => price),
  )
  assert.is(history.at('gpt-5', 10n), undefined)
  assert.is(history.at('gpt-4', 10n), undefined)
})

test('an event that was applied before changes nothing', () => {
  const history = newPriceHistory()
  const changes = [change(1, 'openai', { 'gpt-5.5': gpt(5) }, true), change(2, 'openai', { 'gpt-5.5': gpt(4) })]
  for (const one of [...changes, ...changes]) history.apply(one)
  assert.equal(
    [1n, 2n, 3n].map((position) => history.at('gpt-5.5', position)?.input),
    [5, 4, 4],
  )
})

test('a spelling that was asked for follows later events', () => {
  const history = newPriceHistory()
  assert.is(history.at('gpt-5.5', 5n), undefined)
  history.apply(change(1, 'reseller', { 'gpt-5.5': gpt(9) }, true))
  assert.is(history.at('gpt-5.5', 5n)?.input, 9)
  history.apply(change(3, 'openai', { 'gpt-5.5': gpt(5) }, true))
  assert.equal(
    [2n, 3n].map((position) => history.at('gpt-5.5', position)?.input),
    [9, 5],
  )
})

const MODELS = [
  'gpt-5.5',
  'openai/gpt-5.5',
  'GPT-5.5-2026-04-23',
  'gpt-5.5-high',
  'claude-opus-4-6',
  'anthropic.claude-opus-4-6-v1',
  'claude-opus-4-6-v2:0',
  'claude-opus-4.6@20260101',
]
const SPELLINGS = [
  ...MODELS,
  'openai/gpt-5.5-low',
  'reseller/gpt-5.5',
  'us.anthropic.claude-opus-4-6-v1',
  '<synthetic>',
]

const anyModel = fc.record({
  name: fc.constantFrom('A', 'B'),
  cost: fc.constantFrom({}, { input: 1 }, { input: 2, cache_read: 1 }),
})
const anyModels = fc.dictionary(fc.constantFrom(...MODELS), anyModel, { maxKeys: 4, noNullPrototype: true })
const anyChange = fc.record({
  providerId: fc.constantFrom('openai', 'anthropic', 'reseller', 'amazon-bedrock'),
  replacesAll: fc.boolean(),
  models: anyModels,
  removed: fc.subarray(MODELS, { maxLength: 2 }),
})

test('a price is that of the model that a lookup in the registry of then finds', () => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 12 }), fc.constantFrom(...SPELLINGS), (given, asked) => {
      const history = newPriceHistory()
      const present = new Map<string, ModelEntry & Named>()
      const expected: unknown[] = [undefined]
      for (const [i, { providerId, replacesAll, models, removed }] of given.entries()) {
        const gone = replacesAll ? [] : removed.map((modelId) => [modelId, undefined])
        const set = { ...models, ...Object.fromEntries(gone) } as Record<string, Named | undefined>
        history.apply(change(i + 1, providerId, set, replacesAll))
        if (i % 3 === 0) history.at(asked, BigInt(i))
        for (const [key, entry] of present) if (replacesAll && entry.providerId === providerId) present.delete(key)
        for (const [modelId, model] of Object.entries(set)) {
          const key = `${providerId}/${modelId}`
          const normalizedId = normalizeModelId(modelId)
          if (model) present.set(key, { providerId, modelId, normalizedId, ...model })
          else present.delete(key)
        }
        const found = newLookup([...present.values()])(asked)
        expected.push(priceIn(found && present.get(`${found.providerId}/${found.modelId}`)!.cost))
      }
      assert.equal(
        expected.map((_, position) => history.at(asked, BigInt(position))),
        expected,
      )
      const byKey = (a: ModelEntry, b: ModelEntry) =>
        `${a.providerId}/${a.modelId}` < `${b.providerId}/${b.modelId}` ? -1 : 1
      assert.equal(
        history.present().sort(byKey),
        [...present.values()].map(({ cost: _, ...entry }) => entry).sort(byKey),
      )
    }),
    { numRuns: 2_000 },
  )
})

test.run()
