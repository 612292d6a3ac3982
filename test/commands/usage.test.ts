import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Usage } from '../../src/contract/usage.ts'
import { ask, tokenIn } from './support/api.ts'
import { runJson } from './support/documents.ts'
import { hasTerminals, runOnTerminal } from './support/processes.ts'
import { type User, run } from './support/user.ts'
import { type OwnWorld, inOwnWorld, namespaceOf } from './support/world.ts'

const test = suite('tracebook usage')

type Said = { usage?: Usage; model?: string; timestamp?: number }

const sayIn =
  ({ url, user, putTrace }: OwnWorld) =>
  async (externalId: string, fields: object, ...said: readonly Said[]): Promise<void> => {
    await putTrace(user, externalId, fields)
    await ask(url, `/v1/traces/${externalId}/messages/batch`, {
      token: tokenIn(user.config),
      method: 'POST',
      body: {
        messages: said.map((one, order) => ({
          externalId: `m-${order}`,
          role: 'assistant',
          order,
          textContent: 'x',
          ...one,
        })),
      },
    })
  }

/** Gives the registry one model: a dollar for a million tokens of the input, ten for those of the output, a dime for cached ones. */
const putPrices = async ({ databaseUrl, folder }: OwnWorld): Promise<void> => {
  const file = join(folder, 'catalogue.json')
  const model = { name: 'Priced 1', release_date: '2026-01', cost: { input: 1, output: 10, cache_read: 0.1 } }
  const maker = {
    name: 'Maker',
    env: ['MAKER_KEY'],
    npm: '@maker/sdk',
    doc: 'https://maker.example',
    models: { 'priced-1': model },
  }
  await writeFile(file, JSON.stringify({ maker }))
  const { how, err } = await run(['models', 'refresh'], { DATABASE_URL: databaseUrl, CATALOGUE_URL: file })
  assert.is(how, 0, err)
}

/** The table as lines of cells, without the line above it and the notes below. */
const cells = (out: string): string[][] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/))

const table = async (user: User, ...words: readonly string[]): Promise<string[][]> => {
  const { how, out, err } = await user.run('usage', ...words)
  assert.equal([how, err], [0, ''])
  return cells(out).slice(1)
}

const noon = (day: number): number => new Date(2026, 1, day, 12).getTime()
const FEBRUARY = ['--since', '2026-02-01', '--until', '2026-02-28']

test('rows add up what sessions have used, and the last one all of them', () =>
  inOwnWorld(async (world) => {
    const { url, user } = world
    await putPrices(world)
    const say = sayIn(world)
    const usage = { inputTokens: 200_000, cacheWriteTokens: 34, cacheReadTokens: 2_000_000, outputTokens: 40_000 }
    await say(
      'priced',
      { model: 'priced-1', projectName: 'shop' },
      { usage, timestamp: noon(3) },
      { timestamp: noon(4) },
    )
    await say('same', { model: 'priced-1' }, { usage: { inputTokens: 5_000 }, timestamp: noon(4) })

    const slug = await namespaceOf(url, user)
    const { out } = await user.run('usage', ...FEBRUARY)
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
    assert.equal(out.split('\n')[0], `${slug}, Feb 1, 2026, 00:00 to Mar 1, 2026, 00:00, days in ${zone}`)
    assert.equal(await table(user, ...FEBRUARY), [
      ['day', 'sessions', 'messages', 'in', 'cached', 'out', 'thinking', 'cost at list prices'],
      ['2026-02-03', '1', '1', '200 k', '2.0 M', '40.0 k', '-', '$0.80'],
      ['2026-02-04', '2', '2', '5.0 k', '-', '-', '-', '$0.0050'],
      ['total', '2', '3', '205 k', '2.0 M', '40.0 k', '-', '$0.81'],
    ])
    assert.equal(
      (await table(user, '--by', 'day,project', ...FEBRUARY)).map((row) => row.slice(0, 4)),
      [
        ['day', 'project', 'sessions', 'messages'],
        ['2026-02-03', 'shop', '1', '1'],
        ['2026-02-04', 'shop', '1', '1'],
        ['2026-02-04', '-', '1', '1'],
        ['total', '2', '3', '205 k'],
      ],
    )
    assert.equal(
      (await table(user, '--since', '2026-02-04', '--until', '2026-02-04')).map(([first]) => first),
      ['day', '2026-02-04', 'total'],
    )

    const { documents } = await runJson(user, 'usage', ...FEBRUARY)
    assert.equal(documents[0], {
      type: 'row',
      row: { key: '2026-02-03', traces: 1, messages: 1, usage, cost: { usd: 0.800_034, of: 'prices' } },
    })
    assert.is(documents.length, 2)
    if (!hasTerminals) return
    const narrow = await runOnTerminal(user, { columns: 60, variables: { NO_COLOR: '1' } }, 'usage', ...FEBRUARY)
    for (const line of cells(narrow.out).slice(1)) assert.ok(line.join('  ').length <= 60, narrow.out)
    assert.match(narrow.out, /\ntotal .*\$0\.81\n/)
  }))

test('what is not known is empty, and said below the table', () =>
  inOwnWorld(async (world) => {
    const { user } = world
    await putPrices(world)
    const say = sayIn(world)
    await say('priced', { model: 'priced-1' }, { usage: { inputTokens: 1_000_000 } })
    await say(
      'reported',
      { agentId: 'opencode', model: 'priced-1' },
      { usage: { outputTokens: 5, inputTokens: 1, costUsd: 2.5 } },
    )
    await say('unpriced', { agentId: 'copilot-cli', model: 'new-1' }, { usage: { outputTokens: 7 } })
    await say('nameless', { agentId: 'copilot-cli' }, { usage: { outputTokens: 3 } })
    await say('without', { agentId: 'cursor', model: 'new-2' }, {})

    assert.equal(await table(user, '--by', 'agent'), [
      ['agent', 'sessions', 'messages', 'in', 'cached', 'out', 'thinking', 'cost'],
      ['claude-code', '1', '1', '1.0 M', '-', '-', '-', '$1.00 at list prices'],
      ['copilot-cli', '2', '2', '-', '-', '10', '-', '-'],
      ['cursor', '1', '1', '-', '-', '-', '-', '-'],
      ['opencode', '1', '1', '1', '-', '5', '-', '$2.50'],
      ['total', '5', '5', '1.0 M', '-', '15', '-', '$3.50, in part at list prices'],
      ['no price is known for new-1 and messages without a model'],
      ['no usage is known of cursor'],
      ['only the output is known of copilot-cli'],
    ])
    assert.equal(
      (await table(user, '--by', 'model')).slice(1, 5).map(([model, , , , , , , cost]) => [model, cost]),
      [
        ['new-1', '-'],
        ['new-2', '-'],
        ['priced-1', '$3.50, in part at list prices'],
        ['-', '-'],
      ],
    )
    assert.equal((await table(user))[1]!.at(-1), 'at least $3.50, in part at list prices')
    if (!hasTerminals) return
    const { out } = await runOnTerminal(user, { columns: 50, variables: { NO_COLOR: '1' } }, 'usage')
    for (const line of out.split('\n').slice(1, 4)) assert.ok(line.length <= 50, out)
  }))

test('authors have their names, and tools no total', () =>
  inOwnWorld(async (world) => {
    const { url, user, newUser, putTrace } = world
    const [bob, slug] = [await newUser('bob'), await namespaceOf(url, user)]
    const token = tokenIn(user.config)
    const { invite } = await ask<{ invite: { code: string } }>(url, `/v1/namespaces/${slug}/invites`, {
      token,
      method: 'POST',
      body: {},
    })
    await bob.run('invite', 'accept', invite.code)
    await bob.run('switch', slug)
    await user.run('whoami', '--set-name', 'Ada')
    await sayIn(world)('of-ada', {}, { usage: { outputTokens: 7 } })
    await putTrace(bob, 'of-bob', {}, ['Hello'])
    const { user: him } = await ask<{ user: { id: string } }>(url, '/v1/session', { token: tokenIn(bob.config) })
    const authors = async (who: User) =>
      new Map(
        (await table(who, '--by', 'author', '--namespace', slug)).map(([author, , , , , output]) => [author, output]),
      )
    for (const [who, ada] of [
      [user, 'Ada'],
      [bob, 'others'],
    ] as const) {
      const outputs = await authors(who)
      assert.equal([outputs.get(ada), outputs.get(him.id.slice(0, 8)), outputs.get('total')], ['7', '-', '7'])
      assert.is(outputs.has('Ada'), who === user)
    }

    const part = { type: 'tool_call', content: { callId: 'c', toolName: 'Bash', args: {} } }
    await ask(url, '/v1/traces/of-ada/messages/call', {
      token,
      method: 'PUT',
      body: { role: 'assistant', order: 9, parts: [part] },
    })
    assert.equal(await table(user, '--by', 'tool'), [
      ['tool', 'sessions', 'messages'],
      ['bash', '1', '1'],
    ])
  }))

test('without anything to add up it says so, and which agents record nothing', () =>
  inOwnWorld(async (world) => {
    const { url, user, newUser, putTrace } = world
    const slug = await namespaceOf(url, user)
    const none = await user.run('usage')
    assert.equal([none.how, none.out], [0, ''])
    const [said, rest] = none.err.split(/ from .+ to .+\. Ask/)
    assert.equal(
      [said, rest],
      [`The namespace "${slug}" has no messages`, ' for another time by --since and --until.\n'],
    )
    assert.equal((await runJson(user, 'usage')).documents, [])
    await putTrace(user, 'talk', {}, ['Hello'])
    assert.match((await table(user)).at(-1)!.join(''), /^No usage is known of these messages\. Cursor records no usage/)

    const other = await newUser('bob')
    const refused = await other.run('usage', '--namespace', slug)
    assert.equal([refused.how, refused.out], [1, ''])
    assert.match(refused.err, `You may not see what was used in the namespace "${slug}"`)
    for (const words of [
      ['--namespace', 'nowhere'],
      ['--by', 'week'],
      ['--since', 'yesterday'],
      ['--since', '2020-01-01'],
      ['--since', '2026-02-02', '--until', '2026-02-01'],
    ])
      assert.is((await user.run('usage', ...words)).how, 2, words.join(' '))
    assert.match(
      (await user.run('usage', '--since', '2020-01-01')).err,
      '--since must be at most 800 days before --until. Ask for the years one by one',
    )
  }))

test.run()
