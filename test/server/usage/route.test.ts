import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UsageRow } from '../../../src/contract/namespace-usage.ts'
import type { TraceDetail } from '../../../src/contract/trace.ts'
import { type Person, callerOf, openWorld, signIn } from '../../support/world.ts'

const test = suite('usage: what traces and namespaces have used and cost')

const folder = await mkdtemp(join(tmpdir(), 'usage-'))
const CATALOGUE_URL = join(folder, 'catalogue.json')
const { node } = await openWorld(test, { env: { CATALOGUE_URL, ROLES: 'api,projector' } })
test.after(() => rm(folder, { recursive: true }))

/** Sets what a million tokens of the model `gpt-9` cost, in dollars. */
const setPrices = async (cost: Record<string, unknown>) => {
  const models = { 'gpt-9': { name: 'GPT-9', cost } }
  await writeFile(CATALOGUE_URL, JSON.stringify({ openai: { name: 'OpenAI', env: [], npm: '', doc: '', models } }))
  await node.service.catalogue.refresh()
}

const answer = (externalId: string, usage: object, more: object = {}) => ({
  externalId,
  role: 'assistant',
  parts: [],
  usage,
  ...more,
})

const shown = async (of: Person, url: string) => (await of.send<{ trace: TraceDetail }>('GET', url)).trace

const rowsOf = async (of: Person, slug: string, query = '') =>
  (await of.send<{ rows: UsageRow[] }>('GET', `/v1/namespaces/${slug}/usage?${query}`)).rows

test('usage is priced as it was when it was written, also after its past is erased', async () => {
  const ada = await signIn(node)
  const trace = await ada.newTrace({ model: 'gpt-9', agentId: 'a' }, [answer('early', { inputTokens: 1_000_000 })])
  assert.equal((await shown(ada, trace.url)).cost, undefined, 'nothing is known of a model without a price')
  await setPrices({ input: 2, output: 10 })
  await ada.say(trace.url, [answer('m', { inputTokens: 500_000, outputTokens: 100_000 })])
  const known = { usd: 2, of: 'prices', unpriced: ['gpt-9'] }
  assert.equal((await shown(ada, trace.url)).cost, known)
  await setPrices({ input: 200, output: 1_000 })
  assert.equal((await shown(ada, trace.url)).cost, known, 'a later price changes nothing')
  await ada.send('POST', `${trace.url}/history/erase`, {})
  assert.equal((await shown(ada, trace.url)).cost, known)
  await ada.say(trace.url, [answer('early', { inputTokens: 1_000_000, outputTokens: 0 })])
  assert.equal((await shown(ada, trace.url)).cost, { usd: 202, of: 'prices' }, 'written again, it has the price of now')
  assert.equal(
    (await rowsOf(ada, ada.namespaceSlug, 'by=model')).map(({ key, cost }) => [key, cost?.usd]),
    [['gpt-9', 202]],
  )
})

test('what agents report counts as it is, and more than 200,000 tokens cost what the model says for them', async () => {
  const ada = await signIn(node)
  await setPrices({ input: 1, output: 10, cache_read: 0.1, context_over_200k: { input: 2 } })
  const trace = await ada.newTrace({ model: 'gpt-9', agentId: 'a' }, [
    answer('short', { inputTokens: 100_000, cacheReadTokens: 100_000 }),
    answer('long', { inputTokens: 100_000, cacheReadTokens: 100_001 }),
    answer('said', { inputTokens: 100_000, costUsd: 0.5 }),
  ])
  const { usage, cost } = await shown(ada, trace.url)
  assert.equal(usage, { inputTokens: 300_000, cacheReadTokens: 200_001, costUsd: 0.5 })
  assert.equal(cost, { usd: 0.8200001, of: 'mixed' })
})

test('members read the sums of a namespace; only admins see who else has used what', async () => {
  const devices = ['an-admin-of-usage', 'a-member-of-usage', 'a-former-member-of-usage'] as const
  const [admin, member, former, stranger] = await Promise.all(
    [...devices, undefined].map((device) => signIn(node, device)),
  )
  const { id, slug } = await admin!.newTeam()
  for (const guest of [member!, former!]) await admin!.admit(slug, guest)
  for (const [i, device] of devices.entries()) {
    const here = await signIn(node, device, { namespaceId: id })
    await here.newTrace({ agentId: 'a' }, [answer('m', { inputTokens: 10 ** i })])
  }
  await admin!.send('DELETE', `/v1/namespaces/${slug}/members/${former!.userId}`)

  const authors = async (who: Person) =>
    (await rowsOf(who, slug, 'by=author')).map(({ key, traces, usage }) => [key, traces, usage?.inputTokens])
  const all = [admin!, member!, former!].map(({ userId }, i) => [userId, 1, 10 ** i] as const)
  assert.equal(
    await authors(admin!),
    all.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  assert.equal(await authors(member!), [
    [member!.userId, 1, 10],
    [undefined, 2, 101],
  ])
  const statusOf = async (who: Pick<Person, 'ask'>, query = '') =>
    (await who.ask('GET', `/v1/namespaces/${slug}/usage?${query}`)).status
  for (const by of ['day', 'agent', 'model', 'project', 'author', 'tool', 'day,tool']) {
    assert.is(await statusOf(member!, `by=${by}`), 200)
    assert.is(await statusOf(former!, `by=${by}`), 403)
    assert.is(await statusOf(stranger!, `by=${by}`), 403)
    assert.is(await statusOf(callerOf(node), `by=${by}`), 401)
  }
  assert.is((await admin!.ask('GET', '/v1/namespaces/no-such-team/usage')).status, 404)
})

test('a zone decides which day a message is of; days that begin within a quarter of an hour are refused nowhere', async () => {
  const ada = await signIn(node)
  const late = Date.UTC(2026, 2, 28, 23, 30)
  await ada.newTrace({ agentId: 'a' }, [
    answer('a', { inputTokens: 1 }, { timestamp: late }),
    answer('b', { inputTokens: 10 }, { timestamp: late + 23 * 3_600_000 }),
    answer('c', { inputTokens: 100 }, { timestamp: late + 24 * 3_600_000 }),
  ])
  const days = async (tz: string) =>
    (await rowsOf(ada, ada.namespaceSlug, `from=${late}&to=${late + 86_400_001}&tz=${encodeURIComponent(tz)}`)).map(
      ({ key, usage }) => [key, usage?.inputTokens],
    )
  assert.equal(await days('UTC'), [['2026-03-28', 1], ['2026-03-29', 110]]) // prettier-ignore
  // 29 March has 23 hours in Berlin.
  assert.equal(await days('Europe/Berlin'), [['2026-03-29', 1], ['2026-03-30', 110]]) // prettier-ignore
  assert.equal(await days('Asia/Kathmandu'), [['2026-03-29', 1], ['2026-03-30', 110]]) // prettier-ignore
  assert.equal(await days('America/St_Johns'), [['2026-03-28', 1], ['2026-03-29', 110]]) // prettier-ignore
})

test('models have any names, and any costs are added up, also of a moment in the past', async () => {
  const ada = await signIn(node)
  const names = ['"quoted"', 'a\\u0000b', 'a\0b', '\ud800', '__proto__', '1', "'; --"]
  const trace = await ada.newTrace(
    { agentId: 'a' },
    [...names, 'gpt-9', 'openai/gpt-9'].map((model, i) => answer(`${i}`, { inputTokens: 1 }, { model })),
  )
  assert.equal(
    (await rowsOf(ada, ada.namespaceSlug, 'by=model')).map(({ key, messages }) => [key, messages]),
    [...names, 'gpt-9'].sort().map((name) => [name, name === 'gpt-9' ? 2 : 1]),
  )
  const { revision } = await ada.send<{ revision: number }>('POST', `${trace.url}/messages/batch`, {
    messages: [answer('much', { costUsd: 1e308 })],
  })
  const { usage, cost } = await shown(ada, trace.url)
  await ada.say(trace.url, [answer('much', { costUsd: 1 })])
  const past = await shown(ada, `${trace.url}?revision=${revision}`)
  assert.equal([past.usage, past.cost], [usage, cost])
})

test('rows are in the order of the code points of their keys', async () => {
  const ada = await signIn(node)
  const names = ['a', 'a\u{ff5e}', 'a\u{1f600}', 'ab', '\u{ff5e}', '\u{1f600}']
  for (const projectName of names.toReversed()) await ada.newTrace({ projectName }, [answer('m', { inputTokens: 1 })])
  const byCodePoints = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  assert.equal(
    (await rowsOf(ada, ada.namespaceSlug, 'by=project')).map(({ key }) => key),
    byCodePoints,
  )
})

test('what is not valid is refused, with what would be', async () => {
  const ada = await signIn(node)
  const issue = async (query: string) => {
    const { status, error } = await ada.ask('GET', `/v1/namespaces/${ada.namespaceSlug}/usage?${query}`)
    assert.is(status, 400, query)
    return JSON.stringify(error)
  }
  assert.match(await issue('by=week'), 'must be one of day, agent')
  assert.match(await issue('by=day,day'), 'must be one of day, agent')
  assert.match(await issue('tz=Mars/Olympus'), 'Europe/Berlin')
  assert.match(await issue('from=1&to=70000000000'), 'at most 800 days')
  assert.match(await issue('from=yesterday'), 'ISO 8601')
  assert.equal(await rowsOf(ada, ada.namespaceSlug, 'from=2026-02-02T00:00Z&to=2026-02-01T00:00Z'), [])
})

test.run()
