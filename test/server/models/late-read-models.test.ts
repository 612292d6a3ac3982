import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openEmptyWorld } from '../../support/world.ts'

const test = suite('a model registry whose read models are late')
const { openNode } = await openEmptyWorld(test, { readModels: false })

test('is filled as soon as they are there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
  const CATALOGUE_URL = join(folder, 'api.json')
  const models = { 'gpt-5.5': { name: 'GPT-5.5', release_date: '2026-01' } }
  await writeFile(CATALOGUE_URL, JSON.stringify({ openai: { name: 'OpenAI', env: [], npm: '', doc: '', models } }))
  try {
    const worker = await openNode({ env: { ROLES: 'api,worker', CATALOGUE_URL }, ready: false })
    assert.ok((await worker.service.readiness()).missing.includes('the model registry is not filled yet'))
    await openNode({ env: { ROLES: 'projector' } })
    const names = async () =>
      ((await worker.call('GET', '/v1/models')).data as { models?: object[] } | undefined)?.models
    while (!(await names())?.length) await new Promise((resolve) => setTimeout(resolve, 50))
  } finally {
    await rm(folder, { recursive: true })
  }
})

test.run()
