import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NamespaceUsage, UsageRow } from '../../../src/contract/namespace-usage.ts'
import type { UsageSums } from '../../../src/contract/usage.ts'
import { type Detail, ask, tokenIn } from '../../commands/support/api.ts'
import { runJson } from '../../commands/support/documents.ts'
import { type User, run } from '../../commands/support/user.ts'
import { type OwnWorld, inOwnWorld, namespaceOf } from '../../commands/support/world.ts'
import { type Answer, type Sums, ofClaudeCode, ofCodex, ofGeminiCli, ofPi, total } from '../support/second-reading.ts'
import { sessionsOfPrograms, sharedData } from '../support/shared-data.ts'

const test = suite('tokens and cost of sessions, as ccusage adds them up, and as the files and the catalogue do')

/** Input that was not cached, cache reads, cache writes, output. */
type Counts = readonly [input: number, read: number, written: number, output: number]

/**
 * What ccusage 20.0.24 said on 2026-11-29 (`ccusage <agent> session --json --offline`) of the sessions that the real programs wrote: of those in which
 * no sub-agent worked, in each situation on its own, and of those in which one did. The provider of the latter has counted its answers from 1
 * again, so that they look like copies of the others.
 */
const OF_PROGRAMS: Readonly<Record<string, { readonly alone: Counts; readonly delegating?: Counts }>> = {
  'claude-code': { alone: [22_366, 44_366, 6_966, 2_052], delegating: [5_040, 10_040, 1_540, 380] },
  codex: { alone: [21_287, 41_287, 0, 3_774], delegating: [3_008, 6_008, 0, 196] },
  opencode: { alone: [22_177, 940_049, 0, 3_177], delegating: [4_438, 8_438, 0, 638] },
  'gemini-cli': { alone: [28_681, 53_681, 0, 4_931], delegating: [6_123, 12_123, 0, 423] },
  pi: { alone: [28_717, 53_717, 2_340, 8_934] },
  'qwen-code': { alone: [61_848, 39_924, 0, 8_928] },
}

/** The same of recorded sessions, but for the longest one of pi, with `--since 2025-01-01 --until 2026-12-31`, and what it said that they cost. */
const OF_RECORDED: Readonly<Record<string, readonly [counts: Counts, usd: number]>> = {
  'claude-code': [[7_608, 62_294_007, 2_623_886, 99_790], 48.681_316_15],
  codex: [[13_968, 14_464, 0, 263], 0.009_291_53],
  'gemini-cli': [[56_029, 172_521, 0, 1_063], 0.031_117_27],
  pi: [[1_373, 43_229_469, 4_296_232, 83_230], 30.345_197_7],
}

/** An answer that a session of pi has twice, with one id of the provider's: ccusage counts both. */
const TWICE_IN_PI: Counts = [12, 0, 0, 7]

const combine = (one: Counts, other: Counts, sign: 1 | -1): Counts =>
  one.map((count, i) => count + sign * other[i]!) as unknown as Counts

/** What ccusage counts where that is said of usage: it leaves out thinking of two agents, and counts as input of another one what was cached, too. */
const asCcusage = (agent: string, usage: UsageSums = {}): Counts => {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0, reasoningTokens = 0 } = usage
  const leftOut = ['opencode', 'gemini-cli'].includes(agent) ? reasoningTokens : 0
  const countedTwice = agent === 'qwen-code' ? cacheReadTokens : 0
  return [inputTokens + countedTwice, cacheReadTokens, cacheWriteTokens, outputTokens - leftOut]
}

const sync = async (user: User, paths: readonly string[]): Promise<void> => {
  const { out } = await user.run('sync', '--json', ...paths)
  assert.is(JSON.parse(out.trimEnd().split('\n').at(-1)!).failed, 0)
}

const byAgent = async ({ url }: OwnWorld, user: User, from: string, to: string): Promise<readonly UsageRow[]> => {
  const path = `/v1/namespaces/${await namespaceOf(url, user)}/usage?by=agent&from=${Date.parse(from)}&to=${Date.parse(to)}`
  return (await ask<NamespaceUsage>(url, path, { token: tokenIn(user.config) })).rows
}

const counted = (rows: readonly UsageRow[]): Readonly<Record<string, Counts>> =>
  Object.fromEntries(rows.map(({ key, usage }) => [key, asCcusage(key!, usage)]))

/** What the sub-agents of an agent have used. */
const ofSubAgents = async ({ url }: OwnWorld, user: User, agent: string): Promise<Counts> => {
  const { traces } = await ask<{ traces: readonly Detail[] }>(url, '/v1/traces', { token: tokenIn(user.config) })
  return traces
    .filter(({ agentId, parentExternalId }) => agentId === agent && parentExternalId !== undefined)
    .reduce<Counts>((sum, { usage }) => combine(sum, asCcusage(agent, usage), 1), [0, 0, 0, 0])
}

const programs = sessionsOfPrograms()
if (programs === undefined) test.skip('no sessions of the real programs beside the repository')
else
  test('ccusage says the same of what the real programs wrote', () =>
    inOwnWorld(async (world) => {
      const year = ['2026-01-01', '2027-01-01'] as const
      const homes = globSync('*/*/home', { cwd: programs })
      const isDelegating = (home: string) => dirname(home).endsWith('task')
      const [alone, delegating] = [await world.newUser('alone'), await world.newUser('delegating')]
      for (const [user, some] of [
        [alone, homes.filter((home) => !isDelegating(home))],
        [delegating, homes.filter(isDelegating)],
      ] as const)
        await sync(
          user,
          some.map((home) => join(programs, home)),
        )

      const said = Object.entries(OF_PROGRAMS)
      assert.equal(
        counted(await byAgent(world, alone, ...year)),
        Object.fromEntries(said.map(([agent, { alone }]) => [agent, alone])),
      )
      const { codex, ...others } = counted(await byAgent(world, delegating, ...year))
      assert.equal(
        // It leaves out sub-agents of Codex.
        { ...others, codex: combine(codex!, await ofSubAgents(world, delegating, 'codex'), -1) },
        Object.fromEntries(said.flatMap(([agent, { delegating }]) => (delegating ? [[agent, delegating]] : []))),
      )
    }))

const CATALOGUE = join(import.meta.dirname, '..', '..', '..', 'src', 'server', 'models', 'shipped-catalogue.json')

type Prices = Readonly<Partial<Record<'input' | 'output' | 'cache_read' | 'cache_write', number>>>
type Catalogue = Readonly<
  Record<
    string,
    { readonly models?: Readonly<Record<string, { readonly cost: Prices & { context_over_200k?: Prices } }>> }
  >
>

/** For each name that an agent gives a model: the id that is shown, and whose price in the catalogue is that of the model. */
const MODELS: Readonly<Record<string, readonly [shown: string, provider: string, id: string]>> = {
  'claude-opus-4-5': ['claude-opus-4-5', 'anthropic', 'claude-opus-4-5'],
  'claude-opus-4-5-20251101': ['claude-opus-4-5', 'anthropic', 'claude-opus-4-5-20251101'],
  'claude-opus-4-6': ['claude-opus-4-6', 'anthropic', 'claude-opus-4-6'],
  'claude-opus-5': ['claude-opus-5', 'anthropic', 'claude-opus-5'],
  'claude-sonnet-4-20250514': ['claude-sonnet-4', 'openrouter', 'anthropic/claude-sonnet-4'],
  'claude-sonnet-4-5': ['claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
  'claude-sonnet-4-5-20250929': ['claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5-20250929'],
  'gemini-2.5-flash': ['gemini-2-5-flash', 'google', 'gemini-2.5-flash'],
  'gemini-3-flash-preview': ['gemini-3-flash-preview', 'google', 'gemini-3-flash-preview'],
  'gpt-5.2': ['gpt-5-2', 'openai', 'gpt-5.2'],
}

const modelOf = ({ model = '' }: Answer) => MODELS[model] ?? assert.unreachable(`no price is given for ${model}`)
const LONG = 200_000

const costOf =
  (catalogue: Catalogue) =>
  (answer: Answer): number => {
    if (answer.usd !== undefined) return answer.usd
    const [, provider, id] = modelOf(answer)!
    const { context_over_200k: long, ...usual } = catalogue[provider]!.models![id]!.cost
    const [input, output, read, written] = answer.sums
    const prices = input + read + written > LONG ? { ...usual, ...long } : usual
    const { cache_read = prices.input!, cache_write = prices.input! } = prices
    return (input * prices.input! + output * prices.output! + read * cache_read + written * cache_write) / 1e6
  }

/** All digits of a sum of dollars, without what adding up in another order changes. */
const dollars = (usd: number) => usd.toFixed(9)

type Shown = readonly [key: string, sums: Sums, usd: string]

const inOrder = (shown: readonly Shown[]): readonly Shown[] => [...shown].sort(([a], [b]) => (a < b ? -1 : 1))

/** What answers have used and cost, by a key. */
const addedUp = (
  answers: readonly Answer[],
  keyOf: (answer: Answer) => string,
  cost: (answer: Answer) => number,
): readonly Shown[] =>
  inOrder(
    [...Map.groupBy(answers, keyOf)].map(([key, some]) => [
      key,
      total(some),
      dollars(some.reduce((sum, answer) => sum + cost(answer), 0)),
    ]),
  )

/** The rows of `tracebook usage` in which something was used. */
const shown = async (user: User, by: string, ...[since, until]: Days): Promise<readonly Shown[]> => {
  const { documents } = await runJson(user, 'usage', '--by', by, '--since', since, '--until', until)
  const rows = documents.map(({ row }) => row as UsageRow).filter(({ usage }) => usage !== undefined)
  return inOrder(
    rows.map(({ key = '', usage, cost }) => {
      const {
        inputTokens = 0,
        outputTokens = 0,
        cacheReadTokens = 0,
        cacheWriteTokens = 0,
        reasoningTokens = 0,
      } = usage!
      const sums: Sums = [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens]
      return [key, sums, dollars(cost!.usd)]
    }),
  )
}

const SYNCED = [
  ...['claude-code', 'agents/claude', 'agents/codex', 'agents/gemini', 'agents/pi/agent-sessions'],
  ...['agents/pi/agentsview', 'agents/pi/pi-mono/large-session.jsonl'],
]

/** The files in `SYNCED`, by how they are read. */
const RECORDED: readonly (readonly [pattern: string, read: (path: string) => readonly Answer[]])[] = [
  ['{claude-code,agents/claude}/**/*.jsonl', ofClaudeCode],
  ['agents/codex/**/*.jsonl', ofCodex],
  ['agents/gemini/**/*.{json,jsonl}', ofGeminiCli],
  ['agents/pi/**/{small,session,large-session}.jsonl', ofPi],
]

/** The answers of recorded sessions that have used something. */
const answersIn = (data: string): readonly Answer[] =>
  RECORDED.flatMap(([pattern, read]) =>
    globSync(pattern, { cwd: data }).flatMap((file) => read(join(data, file))),
  ).filter(({ sums }) => sums.some((count) => count > 0))

/** From a local date to the end of another one. */
const between = (answers: readonly Answer[], ...[since, until]: Days): readonly Answer[] => {
  const [from, to] = [new Date(`${since}T00:00`).getTime(), new Date(`${until}T24:00`).getTime()]
  return answers.filter(({ at = NaN }) => at >= from && at < to)
}

/** Asserts what ccusage says: the same tokens, and the same cost, but that it prices cache writes that are kept for an hour, at 1.6 times the usual ones. */
const assertCcusage = async (world: OwnWorld, answers: readonly Answer[], catalogue: Catalogue): Promise<void> => {
  const rows = await byAgent(world, world.user, '2025-01-01', '2027-01-01')
  const said = Object.entries(OF_RECORDED)
  assert.equal(
    counted(rows),
    Object.fromEntries(
      said.map(([agent, [counts]]) => [agent, agent === 'pi' ? combine(counts, TWICE_IN_PI, -1) : counts]),
    ),
  )
  const kept = answers.filter(({ forAnHour = 0 }) => forAnHour > 0)
  const surcharge = kept.reduce((sum, answer) => {
    const [, provider, id] = modelOf(answer)!
    return sum + (answer.forAnHour! * 0.6 * catalogue[provider]!.models![id]!.cost.cache_write!) / 1e6
  }, 0)
  assert.equal(
    rows.map(({ key, cost }) => [key, dollars(cost!.usd + (key === 'claude-code' ? surcharge : 0))]),
    said.map(([agent, [, usd]]) => [agent, dollars(usd)]),
  )
}

/** Local dates: the first day, and the last one. */
type Days = readonly [since: string, until: string]

/** Half a year, and weeks of it in which several agents, models and projects were at work. */
const HALF_A_YEAR: Days = ['2025-09-01', '2026-02-28']
const WEEKS: readonly Days[] = [
  ['2025-09-01', '2025-09-07'],
  ['2025-12-15', '2025-12-21'],
  ['2026-01-12', '2026-01-18'],
]

const data = sharedData()
if (data === undefined) test.skip('no recorded sessions beside the repository')
else
  test('half a year of four agents comes to what ccusage says of it, and to what the files and the catalogue say of each model and project', () =>
    inOwnWorld(async (world) => {
      const { databaseUrl, user } = world
      const { how, err } = await run(['models', 'refresh'], { DATABASE_URL: databaseUrl, CATALOGUE_URL: CATALOGUE })
      assert.is(how, 0, err)
      await sync(
        user,
        SYNCED.map((path) => join(data, path)),
      )
      const catalogue = JSON.parse(readFileSync(CATALOGUE, 'utf8')) as Catalogue
      const answers = answersIn(data)
      await assertCcusage(world, answers, catalogue)
      const cost = costOf(catalogue)
      for (const days of [HALF_A_YEAR, ...WEEKS])
        assert.equal(
          await shown(user, 'model', ...days),
          addedUp(between(answers, ...days), (answer) => modelOf(answer)![0], cost),
        )
      for (const days of WEEKS)
        assert.equal(
          await shown(user, 'project', ...days),
          addedUp(between(answers, ...days), ({ project = '' }) => project, cost),
        )
    }))

test.run()
