import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { agents } from '../../src/client/agents/index.ts'
import { overviewOf, type Sent } from '../../src/client/overview.ts'
import { openDuties } from '../../src/client/state/duties.ts'
import { noStates, type SessionStates } from '../../src/client/state/session-states.ts'
import { tempFolder } from './support/temp.ts'

const test = suite('what agents keep on this machine')
const { path: folder, remove } = tempFolder()
test.after(remove)

const DAY = 24 * 60 * 60_000
const now = Date.UTC(2026, 5, 30)

/** A folder of Claude Code with sessions to which nothing was written for so many days. */
const claudeFolder = (name: string, ages: readonly number[], settings?: string): string => {
  const path = join(folder, name)
  const project = join(path, 'projects', '-w-app')
  mkdirSync(project, { recursive: true })
  if (settings !== undefined) writeFileSync(join(path, 'settings.json'), settings)
  for (const age of ages) {
    const file = join(project, `days-${age}.jsonl`)
    writeFileSync(file, '{}\n')
    utimesSync(file, new Date(now), new Date(now - age * DAY))
  }
  return path
}

const claudeIn = async (env: Readonly<Record<string, string>>, sent?: Sent) => {
  const searched = { env, home: join(folder, 'nobody'), now }
  const overviews = await Array.fromAsync(overviewOf(agents, searched, sent, () => assert.unreachable()))
  return overviews.find(({ agent }) => agent.id === 'claude-code')!
}

const expiringIn = async (path: string) => (await claudeIn({ CLAUDE_CONFIG_DIR: path })).expiring.sessions

test('a Claude Code session expires within a week if it has not changed for 23 days, and sessions are kept for 30', async () => {
  const ages = [0, 22, 24, 31, 400]
  assert.is(await expiringIn(claudeFolder('default', ages)), 3)
  for (const [name, settings] of [
    ['without', '{"model":"opus"}'],
    ['broken', '{"cleanupPeriodDays":'],
    ['no-number', '{"cleanupPeriodDays":"365"}'],
    ['null', 'null'],
  ] as const)
    assert.is(await expiringIn(claudeFolder(name, ages, settings)), 3, name)
})

test('each folder of CLAUDE_CONFIG_DIR has its own cleanupPeriodDays', async () => {
  const long = claudeFolder('long', [10, 60, 380], '{"cleanupPeriodDays":365}')
  const short = claudeFolder('short', [1, 10], '{"cleanupPeriodDays":10}')
  assert.is(await expiringIn(long), 1)
  assert.is(await expiringIn(short), 1)
  assert.is(await expiringIn(`${long}, ${short}`), 2)
})

test('sessions in a folder that is reached by a symbolic link are counted', async () => {
  const link = join(folder, 'link')
  symlinkSync(claudeFolder('linked', [50]), link)
  assert.is(await expiringIn(link), 1)
})

test('an expiring session counts as unsent if sync would send it, or ask about it', async () => {
  const path = claudeFolder('sent', [1, 40, 41, 42, 43, 44, 45])
  const ageOf = (source: string) => /days-(\d+)/.exec(source)![1]
  const states: SessionStates = {
    ...noStates(openDuties(folder, '')),
    read: (source) =>
      ageOf(source) === '41'
        ? {
            agentId: 'claude-code',
            sessionId: 's',
            externalId: 's',
            status: 'stored',
            fields: new Map(),
            files: new Map(),
          }
        : undefined,
  }
  const rules = { 42: 'excluded', 43: 'elsewhere', 44: 'held', 45: 'failed' } as const
  const ruleFor: Sent['ruleFor'] = ({ source }) => {
    const status = rules[ageOf(source) as unknown as keyof typeof rules]
    return Promise.resolve(status && { status, why: 'a rule' })
  }
  const { sessions, changes, expiring } = await claudeIn(
    { CLAUDE_CONFIG_DIR: path },
    { states, redaction: { version: '', allowed: new Set() } as unknown as Sent['redaction'], ruleFor },
  )
  assert.equal([sessions, changes], [7, { new: 2, changed: 1, unchanged: 0 }])
  assert.equal(expiring, { sessions: 6, unsent: 4 })
})

test.run()
