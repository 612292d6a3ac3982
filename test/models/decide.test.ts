import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { difference, put, registry, remove } from '../../src/models/decide.ts'
import type { Model, ModelsEvent, Provider } from '../../src/models/events.ts'
import { foldAll, specify } from '../support/given.ts'

const given = specify(registry)
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
const provider = (models: Record<string, Model>, rest: Partial<Provider> = {}): Provider => ({
  name: 'P',
  env: ['KEY'],
  npm: 'n',
  doc: 'd',
  models,
  ...rest,
})

const before = provider({ 'a/b~c': model('A'), x: model('X') })
const added: ModelsEvent = { type: 'ProviderAdded', data: before }

test('a new provider comes whole', () => given().when(put(before)).emits(added))
test('the same again changes nothing', () =>
  given(added)
    .when(put(structuredClone(before)))
    .emits())
test('a change carries the model that differs, and no other', () =>
  given(added)
    .when(put(provider({ 'a/b~c': model('A', 2), x: model('X') })))
    .emits({
      type: 'ProviderUpdated',
      data: { patch: [{ op: 'replace', path: '/models/a~1b~0c', value: model('A', 2) }] },
    }))
test('models and fields come and go', () =>
  given(added)
    .when(put(provider({ x: model('X'), y: model('Y') }, { api: 'https://api', env: [] })))
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
test('a provider is taken out', () => given(added).when(remove()).emits({ type: 'ProviderRemoved', data: {} }))
test('one that is not there is not', () => given().when(remove()).emits())
test('one that was taken out comes back whole', () =>
  given(added, { type: 'ProviderRemoved', data: {} }).when(put(before)).emits(added))

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

test('the difference makes one provider of the other', () => {
  fc.assert(
    fc.property(anyProvider, anyProvider, (one, other) => {
      const patch = difference(one, other)
      const state = foldAll(registry, [
        { type: 'ProviderAdded', data: one },
        { type: 'ProviderUpdated', data: { patch } },
      ])
      assert.equal(state, { is: 'present', provider: other })
    }),
  )
})

test.run()
