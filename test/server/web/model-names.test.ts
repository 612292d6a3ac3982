import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openWorld, signIn } from '../../support/world.ts'

const test = suite('web: names of models')
const folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
test.after(() => rm(folder, { recursive: true }))
const file = join(folder, 'api.json')
const model = (name: string) => ({ name, release_date: '2026-01' })
const provider = { name: 'OpenAI', env: ['KEY'], npm: '@ai-sdk/openai', doc: 'https://x' }
const models = { 'gpt-5.5': model('GPT-5.5'), 'gpt-5': model('GPT-5') }
await writeFile(file, JSON.stringify({ openai: { ...provider, models } }))
const { node } = await openWorld(test, {
  env: { CATALOGUE_URL: file, ROLES: 'api,projector', SUMMARY_PROVIDER: 'none' },
})
const me = await signIn(node, 'ada')
const { position } = await node.service.catalogue.refresh()
await node.service.visible(position)

const answer = (i: number, spelling: string) => ({
  externalId: `m${i}`,
  order: i,
  role: i % 2 === 0 ? 'user' : 'assistant',
  ...(i % 2 === 0 ? {} : { model: spelling }),
  textContent: `text ${i}`,
})
const spellings = ['openai/gpt-5.5', 'gpt-5.5', 'GPT-5.5', 'gpt-5', 'of-nobody']

test('a model has one name on the page of a session, however the agent has called it', async () => {
  const messages = spellings.flatMap((spelling, i) => [answer(2 * i, spelling), answer(2 * i + 1, spelling)])
  await me.newTrace({ model: 'openai/gpt-5.5' }, messages, 'one')
  const { body } = await me.open(`/@${me.namespaceSlug}/one`)
  const speakers = [...body.matchAll(/class="from"><b>([^<]+)<\/b>/g)].map(([, name]) => name)
  assert.equal(
    speakers.filter((name) => name !== 'You' && !/ada/i.test(name!)),
    ['GPT-5.5', 'GPT-5.5', 'GPT-5.5', 'GPT-5', 'of-nobody'],
  )
  assert.not.match(body, /openai.gpt-5/)
})

test('a list has one value for a model, and is filtered by its name and by what agents call it', async () => {
  for (const [i, spelling] of spellings.entries()) await me.newTrace({ model: spelling }, [], `t${i}`)
  const { body } = await me.open('/')
  assert.match(body, /<bdi>GPT-5\.5<\/bdi><\/a><span class="push num">4</)
  const titles = async (q: string) => {
    const { body } = await me.open(`/?q=${encodeURIComponent(q)}`)
    return [...body.matchAll(/<a class="name"[^>]*>([^<]*)</g)].map(([, title]) => title!).sort()
  }
  for (const q of ['model:gpt-5.5', 'model:GPT-5.5', 'model:"gpt-5.5"'])
    assert.equal(await titles(q), ['one', 't0', 't1', 't2'], q)
  assert.equal(await titles('model:of-nobody'), ['t4'])
})

test.run()
