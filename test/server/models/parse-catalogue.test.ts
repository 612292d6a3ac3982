import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseCatalogue } from '../../../src/server/models/parse-catalogue.ts'
import { ModelProvider } from '../../../src/server/models/events.ts'

const test = suite('model catalogue')
const parse = (given: unknown) => parseCatalogue(JSON.stringify(given))
const provider = (models: object, rest: object = {}) => ({
  id: 'p',
  name: 'P',
  env: ['KEY'],
  npm: '@p/sdk',
  doc: 'https://p.example',
  models,
  ...rest,
})

const full = {
  id: 'm',
  name: 'M',
  family: 'ms',
  attachment: true,
  reasoning: true,
  reasoning_options: [{ type: 'toggle' }],
  tool_call: true,
  structured_output: true,
  temperature: true,
  knowledge: '2025-05',
  release_date: '2026-01-02',
  last_updated: '2026-02-03',
  modalities: { input: ['text', 'pdf'], output: ['text'] },
  open_weights: false,
  limit: { context: 1000, output: 100 },
  status: 'beta',
  interleaved: { field: 'reasoning_content' },
  cost: { input: 5, output: 25, tiers: [{ input: 6, tier: { type: 'context', size: 200_000 } }] },
  provider: { api: 'https://m.example', shape: 'responses' },
  experimental: { modes: {} },
}

test('a model is converted to our fields, without members that we do not know', () => {
  const model = parse({ p: provider({ m: full }) }).get('p')?.models.m
  assert.equal(model, {
    name: 'M',
    family: 'ms',
    attachment: true,
    reasoning: true,
    temperature: true,
    knowledge: '2025-05',
    status: 'beta',
    modalities: { input: ['text', 'pdf'], output: ['text'] },
    cost: full.cost,
    limit: { context: 1000, output: 100 },
    interleaved: { field: 'reasoning_content' },
    toolCall: true,
    structuredOutput: true,
    openWeights: false,
    releaseDate: '2026-01-02',
    lastUpdated: '2026-02-03',
    providerOverride: { npm: '@p/sdk', api: 'https://m.example' },
  })
})

test('a missing field of a model has a default', () => {
  const model = parse({ p: provider({ 'a/b:c@d': {} }) }).get('p')!.models['a/b:c@d']!
  assert.is(model.name, 'a/b:c@d')
  assert.equal([model.temperature, model.knowledge, model.cost, model.limit], [false, '', {}, {}])
  assert.not('structuredOutput' in model)
  assert.not('providerOverride' in model)
})

test('an invalid value loses its field, an invalid entry is left out, and the rest is kept', () => {
  const models = { m: { ...full, temperature: 'yes', limit: 7, cost: null }, n: null, o: full, __proto__x: full }
  const parsed = parse({
    p: provider(models),
    q: provider({}),
    r: 5,
    '../s': provider({ m: full }),
    't u': provider({ m: full }),
  })
  assert.equal([...parsed.keys()], ['p'])
  assert.equal(Object.keys(parsed.get('p')!.models), ['m', 'o', '__proto__x'])
  assert.equal(parsed.get('p')!.models.m!.limit, {})
})

test('members that JavaScript reserves are not models', () => {
  const text = `{"p":{"models":{"__proto__":{},"constructor":{},"m":{}}}}`
  assert.equal(Object.keys(parseCatalogue(text).get('p')!.models), ['m'])
})

test('a parsed provider fits the schema of its event', () => {
  for (const one of parse({ p: provider({ m: full, n: {} }, { api: 'https://${X}.example' }) }).values()) {
    assert.equal(ModelProvider.parse(one), one)
  }
})

for (const text of ['', '{', 'null', '[]', '{}', '7', '"x"', '{"p":{}}', '<html>', '{"p":{"models":{}}}']) {
  test(`${JSON.stringify(text)} is not a catalogue`, () => assert.throws(() => parseCatalogue(text)))
}

test.run()
