import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NamespaceUsage } from '../../../src/contract/namespace-usage.ts'
import { daysOf, periodOf } from '../../../src/server/usage/days.ts'
import { type KeyedSums, type Sums, namespaceInsights } from '../../../src/server/usage/insights.ts'
import { openWorld, signIn } from '../../support/world.ts'

const folder = await mkdtemp(join(tmpdir(), 'catalogue-'))
const file = join(folder, 'api.json')
const test = suite('usage: insights')
const { node } = await openWorld(test, { env: { CATALOGUE_URL: file, ROLES: 'api,projector' } })
test.after(() => rm(folder, { recursive: true }))
const { service } = node

const price = async (input: number) => {
  const models = { 'gpt-5': { name: 'GPT-5', release_date: '2026-01', cost: { input, output: 10, cache_read: 0.1 } } }
  await writeFile(file, JSON.stringify({ openai: { name: 'OpenAI', env: [], npm: 'x', doc: 'https://x', models } }))
  await service.visible((await service.catalogue.refresh()).position)
}

const [ada, bob] = [await signIn(node, 'ada'), await signIn(node, 'bob')]
const { slug, id: namespaceId } = await ada.newTeam('insights')
await ada.admit(slug, bob)

const START = Date.UTC(2026, 2, 28, 22)
const HOUR_MS = 3_600_000
const TO = START + 48 * HOUR_MS

type Said = { readonly hour: number; readonly usage?: object; readonly model?: string; readonly tool?: string }

const record = async (by: typeof ada, externalId: string, fields: object, said: readonly Said[]) => {
  await by.send('PUT', `/v1/traces/${externalId}?namespace=${slug}`, fields)
  const messages = said.map(({ hour, usage, model, tool }, i) => ({
    externalId: `message ${i}`,
    role: 'assistant',
    timestamp: START + hour * HOUR_MS,
    ...(model && { model }),
    ...(usage && { usage }),
    parts: tool ? [{ type: 'tool_call', content: { callId: `call ${i}`, toolName: tool, args: {} } }] : [],
  }))
  await by.send('POST', `/v1/traces/${externalId}/messages/batch?namespace=${slug}`, { messages })
}

const gpt = { agentId: 'codex', model: 'gpt-5', projectName: 'shop' }
await price(1)
await record(ada, 'dear', gpt, [
  { hour: 0, usage: { inputTokens: 2_000_000, outputTokens: 1_000, responseId: 'one' }, tool: 'Bash' },
  { hour: 1, usage: { inputTokens: 500, cacheReadTokens: 250_000, reasoningTokens: 3, outputTokens: 9 } },
  { hour: 25 },
])
await price(2)
await record(ada, 'copy', gpt, [
  { hour: 0, usage: { inputTokens: 2_000_000, outputTokens: 1_000, responseId: 'one' }, tool: 'Bash' },
  { hour: 30, usage: { inputTokens: 2_000_000 }, tool: 'Read' },
])
await record(bob, 'reported', { agentId: 'opencode', projectName: 'shop' }, [
  { hour: 2, usage: { inputTokens: 7, costUsd: 0.125 }, model: 'glm-5', tool: 'Read' },
  { hour: 3, usage: { inputTokens: 7 }, model: 'glm-5' },
])
await record(bob, 'silent', { agentId: 'cursor' }, [{ hour: 5 }, { hour: 26 }, { hour: 27 }, { hour: 28 }])

const period = periodOf(START, TO)

const insightsFor = async ({ userId }: { readonly userId: string }, seesAll: boolean, zone = 'Europe/Berlin') => {
  const days = daysOf(period, zone)
  const asked = { namespaceId, period, days: days.map(({ from }) => from) }
  const found = await namespaceInsights(service.reads, await service.models.known(), asked, { userId, seesAll }, zone)
  return { ...found, dates: days.map(({ date }) => date) }
}

const rowsOf = async (by: typeof ada, key: string, zone = 'Europe/Berlin') =>
  (await by.send<NamespaceUsage>('GET', `/v1/namespaces/${slug}/usage?by=${key}&from=${START}&to=${TO}&tz=${zone}`))
    .rows

/** As rows of the API, in the same order. */
const sorted = <One extends { readonly key?: string | undefined }>(rows: readonly One[]) =>
  rows
    .map(({ key, ...rest }) => ({ ...rest, key: key ?? '' }))
    .sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))

test('the sums are those of the API, by each key and for each reader', async () => {
  for (const [by, seesAll] of [
    [ada, true],
    [bob, false],
  ] as const) {
    const found = await insightsFor(by, seesAll)
    const { agents, models, projects, authors, tools } = found
    const days = [...found.days].map(([i, sums]): KeyedSums => ({ ...sums, key: found.dates[i] }))
    for (const [key, sums] of Object.entries({
      day: days,
      agent: agents,
      model: models,
      project: projects,
      author: authors,
      tool: tools.map(({ failed: _, ...sums }) => sums),
    })) {
      const rows = (await rowsOf(by, key)).map(({ displayName: _, ...row }) => row)
      assert.equal(sorted(sums), sorted(rows), `${key}, as ${seesAll ? 'an admin' : 'a member'} sees it`)
      assert.ok(rows.length > 0)
    }
    const sum = (of: (one: Sums) => number | undefined) => agents.reduce((all, one) => all + (of(one) ?? 0), 0)
    assert.equal(
      [found.total.traces, found.total.messages, found.total.cost?.usd],
      [sum(({ traces }) => traces), sum(({ messages }) => messages), sum(({ cost }) => cost?.usd)],
    )
  }
})

test('the dearest sessions are those that cost the most, the longest those with messages in the most quarters of an hour', async () => {
  const { dearest, longest } = await insightsFor(ada, true)
  const ids = new Map<string, string>()
  for (const name of ['dear', 'copy', 'reported', 'silent']) {
    const { trace } = await ada.send<{ trace: { id: string } }>('GET', `/v1/traces/${name}?namespace=${slug}`)
    ids.set(trace.id, name)
  }
  assert.equal(
    dearest.map(({ id, usd }) => [ids.get(id), usd]),
    [
      ['copy', 4],
      ['dear', 2.01 + 0.0005 + 0.025 + 0.00009],
      ['reported', 0.125],
    ],
  )
  assert.equal(
    longest.map(({ id, quarters }) => [ids.get(id), quarters]),
    [
      ['silent', 4],
      ['dear', 3],
      ['reported', 2],
      ['copy', 1],
    ],
  )
})

test('the hours of the week are those of the zone, also after its clocks were changed', async () => {
  const hoursIn = async (zone: string) =>
    (await insightsFor(ada, true, zone)).hours.flatMap((count, hour) => (count === 0 ? [] : [[hour, count]]))
  // 28 March 2026 is a Saturday; the clocks of Berlin were put forward at 1:00 UTC of the 29th.
  const saturday = 5 * 24
  const hour = (i: number) => (saturday + 22 + i) % 168
  const expected = [0, 1, 2, 3, 5, 25, 26, 27, 28, 30].map((i) => [hour(i), 1])
  const byHour = (a: number[], b: number[]) => a[0]! - b[0]!
  assert.equal(await hoursIn('UTC'), expected.sort(byHour))
  const inBerlin = [0, 1, 2, 3, 5, 25, 26, 27, 28, 30].map((i) => [hour(i + (i < 3 ? 1 : 2)), 1])
  assert.equal(await hoursIn('Europe/Berlin'), inBerlin.sort(byHour))
})

test('prices and models that come later count at once', async () => {
  const byModel = async () => sorted((await insightsFor(ada, true)).models)
  await byModel()
  await price(3)
  await record(ada, 'later', gpt, [
    { hour: 7, usage: { inputTokens: 1_000_000 } },
    { hour: 8, usage: { inputTokens: 1 }, model: 'a-new-model' },
  ])
  const rows = sorted(await rowsOf(ada, 'model'))
  assert.equal(await byModel(), rows)
  assert.ok(rows.some(({ key }) => key === 'a-new-model'))
})

/** A session with two calls in an answer, and a message with their results. */
const recordCalls = async (by: typeof ada, slug: string, externalId: string, bash: 'success' | 'error') => {
  await by.send('PUT', `/v1/traces/${externalId}?namespace=${slug}`, { agentId: 'codex' })
  const call = (callId: string, toolName: string) => ({ type: 'tool_call', content: { callId, toolName, args: {} } })
  const result = (callId: string, status: string) => ({
    type: 'tool_result',
    content: { callId, toolName: '', output: '', status },
  })
  const messages = [
    {
      ...{ externalId: 'answer', role: 'assistant', timestamp: START, usage: { inputTokens: 1, responseId: 'a' } },
      parts: [call('1', 'Read'), call('2', 'Bash')],
    },
    // The quarter of an hour of a failed call is that of the call.
    {
      ...{ externalId: 'results', role: 'user', timestamp: TO + HOUR_MS },
      parts: [result('1', 'success'), result('2', bash)],
    },
  ]
  await by.send('POST', `/v1/traces/${externalId}/messages/batch?namespace=${slug}`, { messages })
}

test('a failed call counts for its tool, in copies of its answer once', async () => {
  const { slug, id } = await ada.newTeam('failing')
  const failed = async (from = START) => {
    const { tools } = await namespaceInsights(
      service.reads,
      await service.models.known(),
      { namespaceId: id, period: periodOf(from, TO), days: [] },
      { userId: ada.userId, seesAll: true },
      'UTC',
    )
    return tools.map(({ key, messages, failed }) => [key, messages, failed]).sort()
  }
  const one = (failed: number) => [
    ['bash', 1, failed],
    ['read', 1, 0],
  ]
  await recordCalls(ada, slug, 'first', 'error')
  assert.equal(await failed(), one(1))
  await recordCalls(ada, slug, 'fork', 'error')
  assert.equal(await failed(), one(1))
  assert.equal(await failed(START + HOUR_MS), [])
  await recordCalls(ada, slug, 'first', 'success')
  assert.equal(await failed(), one(0))
  await ada.send('DELETE', `/v1/traces/first?namespace=${slug}`)
  assert.equal(await failed(), one(1))
})

test('nothing is there before there are messages', async () => {
  const { id } = await ada.newTeam('nothing-here')
  const asked = { namespaceId: id, period, days: daysOf(period, 'UTC').map(({ from }) => from) }
  const authors = { userId: ada.userId, seesAll: true }
  const found = await namespaceInsights(service.reads, await service.models.known(), asked, authors, 'UTC')
  assert.equal(found.total, { traces: 0, messages: 0 })
  for (const rows of [found.agents, found.models, found.tools, found.dearest, found.longest]) assert.equal(rows, [])
})

test.run()
