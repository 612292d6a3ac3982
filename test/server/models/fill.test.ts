import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { onServer, withConnection } from '../../support/database.ts'
import type { App } from '../../support/open-app.ts'
import { typesSince } from '../../support/types-since.ts'
import { until } from '../../support/until.ts'
import { type World, WITH_WORKER, newWorld, signIn } from '../../support/world.ts'

const test = suite('the first catalogue of a registry')
const folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
test.after(() => rm(folder, { recursive: true }))

/** An address that refuses connections. */
const NOWHERE = 'http://127.0.0.1:9/api.json'

const catalogueOf = (models: object) => ({ anthropic: { name: 'Anthropic', env: [], npm: '', doc: '', models } })
const ownModel = { 'own-model': { name: 'Own', cost: { input: 7 } } }
const fileWith = async (name: string, text: string) => {
  const file = join(folder, name)
  await writeFile(file, text)
  return file
}

const inWorld = async (options: Parameters<typeof newWorld>[0], work: (world: World) => Promise<void>) => {
  const world = await newWorld(options)
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

const idsOf = async ({ call }: App, query = '?limit=500') => {
  const { data } = await call('GET', `/v1/models${query}`)
  return (data as { models: { modelId: string }[] }).models.map(({ modelId }) => modelId)
}

const priceOf = async ({ service: { models, log } }: App, model: string) =>
  (await models.known()).priceAt(model, await log.head())

test('is that of the service where the address is out of reach, and is there before the first message', () =>
  inWorld({ env: { CATALOGUE_URL: NOWHERE } }, async ({ node, openNode }) => {
    const before = await node.service.log.head()
    assert.is(
      (await typesSince(node.service.log, 0n)).every((type) => type === 'ProviderAdded'),
      true,
    )
    const { send } = await signIn(node, 'ada')
    const { trace } = await send<{ trace: object }>('PUT', '/v1/traces/t', { model: 'claude-opus-4-5-20251101' })
    assert.match(JSON.stringify(trace), '"modelName":"Claude Opus 4.5')
    const { priceAt } = await node.service.models.known()
    for (const model of [
      'claude-opus-4-5-20251101',
      'gpt-5.5',
      'gemini-3-flash-preview',
      'anthropic/claude-sonnet-4.5',
    ])
      assert.ok(priceAt(model, before)?.input, model)
    const head = await node.service.log.head()
    const later = await openNode()
    assert.equal(await typesSince(later.service.log, head), [])
  }))

test('is there once when two nodes start at the same time', () =>
  inWorld({ env: { CATALOGUE_URL: 'none' } }, async ({ node, openNode }) => {
    const nodes = await Promise.all([1, 2].map(() => openNode({ env: { CATALOGUE_URL: NOWHERE } })))
    const streams = (await Array.fromAsync(node.service.log.readAll({ after: 0n }))).map(({ stream }) => stream)
    assert.is(new Set(streams).size, streams.length)
    for (const one of nodes) assert.ok((await priceOf(one, 'claude-opus-4-5'))?.output)
  }))

test('is that of a file, and the one of the service only where it cannot be read', async () => {
  const own = await fileWith('own.json', JSON.stringify(catalogueOf(ownModel)))
  await inWorld({ env: { CATALOGUE_URL: own, ROLES: 'api,projector' } }, async ({ node }) => {
    assert.equal(await idsOf(node), ['own-model'])
    assert.equal(await priceOf(node, 'own-model'), { input: 7 })
  })
  for (const bad of [join(folder, 'missing.json'), await fileWith('bad.json', '{"anthropic": ')])
    await inWorld({ env: { CATALOGUE_URL: bad, ROLES: 'api,projector' } }, async ({ node }) => {
      assert.ok((await idsOf(node, '?provider=anthropic')).includes('claude-opus-4-5'))
    })
})

test('is missing for ever where none is wanted', () =>
  inWorld({ env: { CATALOGUE_URL: 'none' } }, async ({ node }) => {
    assert.equal(await idsOf(node), [])
    assert.is((await node.call('GET', '/v1/models/openai/gpt-5')).status, 404)
    const { send } = await signIn(node, 'ada')
    const { trace } = await send<{ trace: { model: string } }>('PUT', '/v1/traces/t', { model: 'gpt-5.5' })
    assert.equal([trace.model, 'modelName' in trace], ['gpt-5.5', false])
  }))

test('is completed by the next start after a node that has died within it', async () => {
  const part = await fileWith('part.json', JSON.stringify(catalogueOf(ownModel)))
  await inWorld({ env: { CATALOGUE_URL: part, ROLES: 'api,projector' } }, async ({ database, node, openNode }) => {
    await onServer(database.url, 'update tracebook.catalogues set refreshed_at = null')
    const next = await openNode({ env: { CATALOGUE_URL: NOWHERE } })
    assert.equal(await idsOf(next, '?provider=anthropic'), ['own-model'])
    assert.ok((await idsOf(next, '?provider=openai')).includes('gpt-5.5'))
    await until(async () => (await priceOf(node, 'gpt-5.5')) !== undefined)
  })
})

test('is not added to a registry that has models, as after a restore', async () => {
  const own = await fileWith('restored.json', JSON.stringify(catalogueOf(ownModel)))
  await inWorld({ env: { CATALOGUE_URL: own, ROLES: 'api,projector' } }, async ({ database, node, openNode }) => {
    await onServer(database.url, 'delete from tracebook.catalogues')
    const next = await openNode({ env: { CATALOGUE_URL: NOWHERE } })
    assert.equal(await typesSince(next.service.log, 0n), ['ProviderAdded'])
    assert.equal(await idsOf(node), ['own-model'])
  })
})

test('gives way to that of the address at once', async () => {
  const server = createServer((_, response) => response.end(JSON.stringify(catalogueOf(ownModel))))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    await inWorld({ env: { ...WITH_WORKER, CATALOGUE_URL: `http://127.0.0.1:${port}/` } }, async ({ node }) => {
      await until(async () => (await idsOf(node)).join() === 'own-model')
      const all = await Array.fromAsync(node.service.log.readAll({ after: 0n }))
      const updated = all.find(({ type }) => type === 'ProviderUpdated')!
      const { priceAt } = await node.service.models.known()
      const at = (position: bigint) => priceAt('claude-opus-4-5', position)
      assert.ok(at(updated.position - 1n)?.input)
      assert.is(at(all.at(-1)!.position), undefined)
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('is awaited by writes, however long it takes', () =>
  inWorld({ env: { CATALOGUE_URL: 'none' } }, async ({ database, node, openNode }) => {
    const { token } = await signIn(node, 'ada')
    await withConnection(database.url, async (holder) => {
      await holder.query('begin; lock table tracebook.catalogues')
      const late = await openNode({ env: { CATALOGUE_URL: NOWHERE }, ready: false })
      const put = () => late.call('PUT', '/v1/traces/t', { token, body: { model: 'claude-opus-4-5-20251101' } })
      assert.is((await late.unrepeated(put)).status, 503)
      assert.equal((await late.service.readiness()).missing, ['the model registry is not filled yet'])
      await holder.query('rollback')
      await until(async () => (await put()).status === 200)
      const events = await Array.fromAsync(late.service.log.readAll({ after: 0n }))
      const written = events.find(({ type }) => type === 'TraceCreated')!
      assert.ok((await late.service.models.known()).priceAt('claude-opus-4-5', written.position)?.input)
    })
  }))

test.run()
