import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { models } from '../../projections/models.ts'
import { putProvider, modelProviders, removeProvider } from '../../src/server/models/decide.ts'
import type { Model } from '../../src/contract/models.ts'
import type { ModelProvider } from '../../src/server/models/events.ts'
import { SKIPPED } from '../../src/eventstore/engine/projection.ts'
import { ALL_MODELS } from '../../src/tables/main.ts'
import { type Model as ReadModel, type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('models')
const { model, close } = await openModels(models)
test.after(close)

const oneModel = (name: string, input: number): Model => ({
  name,
  attachment: false,
  reasoning: false,
  toolCall: true,
  temperature: false,
  openWeights: false,
  knowledge: '',
  releaseDate: '2026-01',
  lastUpdated: '2026-01',
  modalities: { input: ['text'], output: ['text'] },
  cost: { input },
  limit: {},
})
const provider = fc
  .record({
    api: fc.constantFrom(undefined, 'u', 'v'),
    name: fc.constantFrom('P', 'NUL \0 \ud83d'),
    models: fc.dictionary(
      fc.constantFrom('a', 'b/c', 'd~e', 'F:g@20260101'),
      fc.tuple(fc.constantFrom('A', '\0 \ud83d'), fc.nat(2)).map(([name, input]) => oneModel(name, input)),
      { noNullPrototype: true },
    ),
  })
  .map(({ api, name, models }): ModelProvider => ({
    name,
    env: ['K'],
    npm: 'n',
    doc: 'd',
    models,
    ...(api ? { api } : {}),
  }))

const steps = fc.array(fc.tuple(fc.constantFrom('p', 'q-r'), fc.option(provider)), { minLength: 1, maxLength: 12 })

/** What a history of catalogues comes to: the events, and the providers at its end. */
const play = (history: readonly (readonly [string, ModelProvider | null])[]) => {
  const states = new Map<string, ReturnType<typeof modelProviders.initial>>()
  const recorded: StreamEvent[] = []
  for (const [id, given] of history) {
    let state = states.get(id) ?? modelProviders.initial()
    for (const event of (given ? putProvider(given) : removeProvider())(state, 0, 0)) {
      recorded.push({ stream: `models-${id}`, event })
      state = modelProviders.evolve(state, event, { at: 0 })
    }
    states.set(id, state)
  }
  return { recorded, states }
}

const shown = async ({ rows }: ReadModel) => ({
  providers: await rows('select * from model_providers order by id'),
  models: await rows('select * from models order by provider_id, model_id'),
  changes: await rows('select * from price_changes order by position'),
  prices: await rows('select * from model_prices order by position, provider_id, model_id'),
})

test('batches of any size end in the same rows, which are equal to the folded streams', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const { recorded, states } = play(history)
      const [whole, single] = [await model(), await model()]
      const events = decodedEvents(recorded)
      await whole.apply(events)
      for (const event of events) await single.apply([event])
      const found = await shown(whole)
      assert.equal(await shown(single), found)
      const present = [...states].flatMap(([id, state]) => (state.is === 'present' ? [{ id, ...state.provider }] : []))
      assert.equal(
        found.providers.map(({ id, name, api }) => [id, JSON.parse(name as string), api && JSON.parse(api as string)]),
        present.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ id, name, api }) => [id, name, api ?? null]),
      )
      const bodies = found.models.map(
        ({ body }) => JSON.parse(body as string) as Model & { providerId: string; modelId: string },
      )
      for (const { providerId, modelId, ...body } of bodies) {
        const { normalizedId: _, ...rest } = body as Model & { normalizedId: string }
        assert.equal(rest, present.find(({ id }) => id === providerId)?.models[modelId])
      }
      assert.is(
        bodies.length,
        present.reduce((sum, { models }) => sum + Object.keys(models).length, 0),
      )
      await whole.close()
      await single.close()
    }),
    { numRuns: 15 },
  )
})

const priced = (models: Record<string, Model>, api?: string): ModelProvider => ({
  name: 'P',
  env: [],
  npm: 'n',
  doc: 'd',
  models,
  ...(api === undefined ? {} : { api }),
})

test('what models cost is kept for every event, also of models and providers that are gone', async () => {
  const { recorded } = play([
    ['p', priced({ a: oneModel('A', 1), b: oneModel('B', 1) })],
    ['p', priced({ a: oneModel('A', 2) })],
    ['p', priced({ a: oneModel('A', 2) }, 'https://api')],
    ['p', null],
    ['p', priced({ b: oneModel('B', 3) })],
  ])
  const one = await model()
  await one.apply(decodedEvents(recorded))
  const { changes, prices } = await shown(one)
  assert.equal(
    changes,
    [1n, 2n, 3n, 4n, 5n].map((position) => ({ position, provider_id: 'p', append_id: String(position - 1n) })),
  )
  assert.equal(
    prices.map(({ position, model_id, name, cost }) => [position, model_id, name, cost]),
    [
      [1n, ALL_MODELS, null, null],
      [1n, 'a', '"A"', '{"input":1}'],
      [1n, 'b', '"B"', '{"input":1}'],
      [2n, 'a', '"A"', '{"input":2}'],
      [2n, 'b', null, null],
      [4n, ALL_MODELS, null, null],
      [5n, ALL_MODELS, null, null],
      [5n, 'b', '"B"', '{"input":3}'],
    ],
  )
  await one.close()
})

test('a skipped event of a provider has its position among the changes of prices', async () => {
  const { recorded } = play([
    ['p', priced({ a: oneModel('A', 1) })],
    ['p', priced({ a: oneModel('A', 2) })],
  ])
  const one = await model()
  const [added, updated] = decodedEvents(recorded)
  const skipped = { ...updated!, type: SKIPPED, data: {} }
  await one.apply([added!, skipped, { ...skipped, stream: 'trace-p', position: 3n }])
  const { changes, prices } = await shown(one)
  assert.equal(
    changes.map(({ position }) => position),
    [1n, 2n],
  )
  assert.is(prices.at(-1)?.position, 1n)
  await one.close()
})

test.run()
