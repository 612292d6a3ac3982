import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  addProvider,
  diffProviders,
  putProvider,
  modelProviders,
  removeProvider,
} from '../../../src/server/models/decide.ts'
import type { Model } from '../../../src/contract/models.ts'
import type { ModelsEvent, ModelProvider } from '../../../src/server/models/events.ts'
import { foldAll, specify } from '../../support/given.ts'

const given = specify(modelProviders)
const test = suite('model registry')

const model = (name: string, input = 1): Model => ({
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
const provider = (models: Record<string, Model>, rest: Partial<ModelProvider> = {}): ModelProvider => ({
  name: 'P',
  env: ['KEY'],
  npm: 'n',
  doc: 'd',
  models,
  ...rest,
})

const before = provider({ 'a/b~c': model('A'), x: model('X') })
const added: ModelsEvent = { type: 'ProviderAdded', data: before }

test('a new provider is recorded whole', () => given().when(putProvider(before)).emits(added))
test('a provider is added where there is none', () => given().when(addProvider(before)).emits(added))
test('a provider is not added where there is another one', () =>
  given(added)
    .when(addProvider(provider({})))
    .emits())
test('an equal provider changes nothing', () =>
  given(added)
    .when(putProvider(structuredClone(before)))
    .emits())
test('a change holds only the model that differs', () =>
  given(added)
    .when(putProvider(provider({ 'a/b~c': model('A', 2), x: model('X') })))
    .emits({
      type: 'ProviderUpdated',
      data: { patch: [{ op: 'replace', path: '/models/a~1b~0c', value: model('A', 2) }] },
    }))
test('models and fields are added and removed', () =>
  given(added)
    .when(putProvider(provider({ x: model('X'), y: model('Y') }, { api: 'https://api', env: [] })))
    .emits({
      type: 'ProviderUpdated',
      data: {
        patch: [
          { op: 'remove', path: '/models/a~1b~0c' },
          { op: 'add', path: '/models/y', value: model('Y') },
          { op: 'replace', path: '/env', value: [] },
          { op: 'add', path: '/api', value: 'https://api' },
        ],
      },
    }))
test('a provider is taken out', () => given(added).when(removeProvider()).emits({ type: 'ProviderRemoved', data: {} }))
test('a provider that does not exist is not taken out', () => given().when(removeProvider()).emits())
test('a provider that was taken out comes back whole', () =>
  given(added, { type: 'ProviderRemoved', data: {} }).when(putProvider(before)).emits(added))

const models = fc.dictionary(
  fc.constantFrom('a', 'b/c', 'd~e', 'f:g@h'),
  fc.tuple(fc.constantFrom('A', 'B'), fc.nat(2)).map(([name, input]) => model(name, input)),
  { noNullPrototype: true },
)
const anyProvider = fc
  .record({
    models,
    api: fc.option(fc.constantFrom('u', 'v'), { nil: undefined }),
    env: fc.array(fc.constantFrom('K', 'L')),
  })
  .map(({ models, api, env }) => provider(models, { env, ...(api === undefined ? {} : { api }) }))

test('the difference of two providers turns one into the other', () => {
  fc.assert(
    fc.property(anyProvider, anyProvider, (one, other) => {
      const patch = diffProviders(one, other)
      const state = foldAll(modelProviders, [
        { type: 'ProviderAdded', data: one },
        { type: 'ProviderUpdated', data: { patch } },
      ])
      assert.equal(state, { is: 'present', provider: other })
    }),
  )
})

test.run()
