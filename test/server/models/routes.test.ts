import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { App } from '../../support/open-app.ts'
import { openWorld, signIn } from '../../support/world.ts'
import { until } from '../../support/until.ts'
import { typesSince } from '../../support/types-since.ts'

const test = suite('model routes')
const folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
const file = join(folder, 'api.json')
const model = (name: string, rest: object = {}) => ({ name, release_date: '2026-01', ...rest })
const openai = (models: object) => ({
  name: 'OpenAI',
  env: ['OPENAI_API_KEY'],
  npm: '@ai-sdk/openai',
  doc: 'https://x',
  models,
})
await writeFile(file, JSON.stringify({ first: openai({ 'first-model': model('First') }) }))
// The process must not race the test for the source: it is `api` and `projector` only.
const options = { env: { CATALOGUE_URL: file, ROLES: 'api,projector' } }
const { node: app, openNode } = await openWorld(test, options)
const other = await openNode({ env: { CATALOGUE_URL: 'none', ROLES: 'api' } })
const { call, service } = app
test.after(() => rm(folder, { recursive: true }))

const catalogue = {
  openai: openai({ 'gpt-5.5': model('GPT-5.5'), 'gpt-5': model('GPT-5 \0 \ud83d') }),
  openrouter: openai({ 'openai/gpt-5.5:free': model('GPT-5.5 (free)'), 'a@b%c d': model('100% odd') }),
}
const fill = async (content: object) => {
  await writeFile(file, JSON.stringify(content))
  const refreshed = await service.catalogue.refresh()
  await service.visible(refreshed.position)
  return refreshed
}
const { token, namespaceSlug: slug, ask } = await signIn(app, 'ada')
const list = async (query: string) =>
  (await call('GET', `/v1/models${query}`)).data as { models: { modelId: string }[]; nextCursor?: string }
const ids = async (query: string) => (await list(query)).models.map(({ modelId }) => modelId)
const put = async (body: object, node = app) =>
  ((await node.call('PUT', '/v1/traces/t', { token, body })).data as { trace: { model?: string; modelName?: string } })
    .trace

test('a refresh changes the registry, and an equal one appends nothing', async () => {
  const { added, updated, removed, providers, models } = await fill(catalogue)
  assert.equal(
    { added, updated, removed, providers, models },
    { added: 2, updated: 0, removed: 1, providers: 2, models: 4 },
  )
  const head = await service.log.head()
  assert.equal((await fill(catalogue)).added, 0)
  assert.equal(await typesSince(service.log, head), [])
})

test('models are listed by provider and id, in pages', async () => {
  const all = ['gpt-5', 'gpt-5.5', 'a@b%c d', 'openai/gpt-5.5:free']
  assert.equal(await ids(''), all)
  const seen: string[] = []
  let cursor: string | undefined = ''
  while (cursor !== undefined) {
    const page = await list(`?limit=1${cursor && `&cursor=${cursor}`}`)
    seen.push(...page.models.map(({ modelId }) => modelId))
    cursor = page.nextCursor
  }
  assert.equal(seen, all)
  assert.equal(await ids('?limit=0'), [])
  assert.is((await call('GET', '/v1/models?cursor=x')).status, 400)
  assert.is((await call('GET', '/v1/models?limit=x')).status, 400)
})

test('models are searched by provider and words', async () => {
  assert.equal(await ids('?provider=openai'), ['gpt-5', 'gpt-5.5'])
  assert.equal(await ids('?provider=nobody'), [])
  assert.equal(await ids('?q=GPT%20free'), ['openai/gpt-5.5:free'])
  assert.equal(await ids('?q=100%25'), ['a@b%c d'])
  assert.equal(await ids('?q=_'), [])
  assert.is((await call('GET', '/v1/models?q=%00')).status, 400)
})

test('a model is read by its id, whatever characters the id has', async () => {
  for (const [path, name] of [
    ['openai/gpt-5', 'GPT-5 \0 \ud83d'],
    ['openrouter/openai/gpt-5.5:free', 'GPT-5.5 (free)'],
    ['openrouter/openai%2Fgpt-5.5%3Afree', 'GPT-5.5 (free)'],
    ['openrouter/a@b%25c%20d', '100% odd'],
  ]) {
    const { data } = await call('GET', `/v1/models/${path}`)
    assert.is((data as { model: { name: string } }).model.name, name)
  }
  const { data } = await ask('GET', '/v1/models/openai/gpt-5.5')
  const { model: found, provider } = data as { model: object; provider: object }
  assert.equal(provider, {
    providerId: 'openai',
    name: 'OpenAI',
    env: ['OPENAI_API_KEY'],
    npm: '@ai-sdk/openai',
    doc: 'https://x',
  })
  assert.equal(
    { ...found, modelId: '' },
    {
      providerId: 'openai',
      modelId: '',
      normalizedId: 'gpt-5-5',
      name: 'GPT-5.5',
      attachment: false,
      reasoning: false,
      temperature: false,
      knowledge: '',
      modalities: { input: [], output: [] },
      cost: {},
      limit: {},
      toolCall: false,
      openWeights: false,
      releaseDate: '2026-01',
      lastUpdated: '',
    },
  )
  for (const path of ['openai/gpt-5.6', 'nobody/gpt-5', 'openrouter/openai/gpt'])
    assert.is((await call('GET', `/v1/models/${path}`)).status, 404)
})

test('an upserted trace gets the registry’s names, on every node', async () => {
  const resolved = { model: 'gpt-5-5', modelName: 'GPT-5.5' }
  const shown = ({ model, modelName }: { model?: string; modelName?: string }) => ({ model, modelName })
  for (const node of [app, other]) {
    assert.equal(shown(await put({ model: 'gpt-5.5' }, node)), resolved)
    assert.equal(shown(await put({ title: 'kept' }, node)), resolved)
    assert.equal(shown(await put({ model: '<synthetic>' }, node)), { model: '<synthetic>', modelName: undefined })
    const patched = await node.call('PATCH', '/v1/traces/t', {
      token,
      body: { model: 'openrouter/openai/gpt-5.5:free' },
    })
    assert.equal(shown((patched.data as { trace: object }).trace), { model: 'gpt-5-5', modelName: 'GPT-5.5 (free)' })
    const posted = await node.call('POST', '/v1/traces', { token, body: { externalId: 't', model: 'OpenAI/GPT-5.5' } })
    assert.equal(shown((posted.data as { trace: object }).trace), resolved)
  }
})

test('models that the catalogue drops are removed, and changed ones are updated', async () => {
  const { openrouter: _, ...rest } = catalogue
  rest.openai = openai({ 'gpt-5.5': model('GPT-5.5 new') })
  const { added, updated, removed } = await fill(rest)
  assert.equal([added, updated, removed], [0, 1, 1])
  assert.equal(await ids(''), ['gpt-5.5'])
  assert.is((await put({ model: 'gpt-5.5' })).modelName, 'GPT-5.5 new')
  assert.is((await put({ model: 'gpt-5' })).modelName, undefined)
  assert.is((await fill(catalogue)).added, 1)
})

test('what a model cost stays known for each position of the log, on every node', async () => {
  const at = async ({ service: { models } }: App, position: bigint) =>
    (await models.known()).priceAt('openai/gpt-5.5-high', position)
  const priced = (input: number) => ({ openai: openai({ 'gpt-5.5': model('GPT-5.5', { cost: { input } }) }) })
  const before = await service.log.head()
  const [dear, cheap, none] = [await fill(priced(9)), await fill(priced(8)), await fill(catalogue)]
  const positions = [before, dear.position, cheap.position - 1n, cheap.position, none.position]
  const late = await openNode({ env: { CATALOGUE_URL: 'none', ROLES: 'api' } })
  for (const node of [app, late]) {
    const prices = await Promise.all(positions.map((position) => at(node, position)))
    assert.equal(prices, [undefined, { input: 9 }, { input: 9 }, { input: 8 }, undefined])
  }
  await until(async () => (await at(other, cheap.position))?.input === 8)
})

test('a source that fails leaves the last good copy', async () => {
  for (const text of ['{"openai": ', '{}']) {
    await writeFile(file, text)
    let failed = false
    await service.catalogue.refresh().catch(() => (failed = true))
    assert.ok(failed)
  }
  assert.is((await ids('')).length, 4)
})

/** The model of the trace, as every list and the trace itself show it. */
const shown = async (node = app) => {
  const of = ({ model, modelName }: { model?: string; modelName?: string }) => `${model} ${modelName}`
  const { data: one } = await node.call('GET', '/v1/traces/t', { token })
  const lists = ['/v1/feed', '/v1/feed?limit=5', '/v1/traces', `/v1/namespaces/${slug}/traces`]
  const answers = await Promise.all(lists.flatMap((url) => [node.call('GET', url), node.call('GET', url, { token })]))
  const listed = answers.flatMap(({ data }) => (data as { traces: object[] } | undefined)?.traces ?? [])
  return [...new Set([(one as { trace: object }).trace, ...listed].map(of))]
}

test('a trace that was written before gets its name once the registry has it', async () => {
  await put({ model: 'openai/later.1', visibility: 'public' })
  for (const node of [app, other]) assert.equal(await shown(node), ['openai/later.1 undefined'])
  await fill({ openai: openai({ 'later.1': model('Later 1') }) })
  assert.equal(await shown(), ['later.1 Later 1'])
  await until(async () => (await shown(other)).join() === 'later.1 Later 1')
  await fill({ openai: openai({ 'gpt-5': model('GPT-5') }) })
  assert.equal(await shown(), ['openai/later.1 undefined'])
})

test.run()
