import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent, SessionMessage } from '../../../src/client/agents/agent.ts'
import { countsOf } from './counts.ts'
import { assertGrowth } from './growth.ts'
import { readSession } from './read-session.ts'
import { inParts } from './added-lines.ts'
import { type Expected, expectedCounts, sharedData } from './shared-data.ts'
import { tempFolder } from './temp.ts'

/** What is both counted and given by `expected.json`. Without a session id of its own, a trace has the name of its file. */
const commonKeys = (counts: object, expected: Expected): readonly string[] =>
  Object.keys(counts).filter((key) => key in expected && (key !== 'sessionId' || expected.sessionId !== null))

/** The values of some keys, with times in milliseconds. */
const valuesOf = (values: object, keys: readonly string[]): object =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([key]) => keys.includes(key))
      .map(([key, value]) => [key, key.endsWith('Timestamp') ? Date.parse(value) : (value ?? '')]),
  )

/** Where recorded sessions are cut: at some lines, and within lines. */
const CUTS = 7

/** Asserts of a recorded session that reading it in parts gives what reading it whole gives. */
export const assertRecordedInParts = async (agent: Agent, from: string, to: string): Promise<void> => {
  const content = readFileSync(from)
  const { assertSame } = await inParts(agent, to, content)
  const cuts = Array.from({ length: CUTS }, (_, index) => Math.floor((content.length * (index + 1)) / (CUTS + 1)))
  await assertSame(...cuts)
  await assertSame(...cuts.map((cut) => content.indexOf(10, cut) + 1))
  for (const cut of cuts.slice(-2)) await assertSame(cut)
}

/** What else is expected of the messages of a file. */
type Check = (messages: readonly SessionMessage[], expected: object) => void

/**
 * Tests on the recorded sessions of one agent: the expected counts, and what holds for every session. `folder` is the agent's
 * in `agents/` of the shared data, `secrets` what none of its messages may hold, `otherwise` what is counted in a file by other rules
 * than those of the shared data.
 */
export const testRecorded = (
  agent: Agent,
  folder: string,
  secrets: RegExp,
  also: Check = () => {},
  otherwise: Readonly<Record<string, Partial<Expected>>> = {},
): void => {
  const test = suite(`recorded ${agent.name} sessions`)
  const data = sharedData()
  const { path, remove } = tempFolder()
  test.after(remove)
  if (!data) test.skip('no recorded sessions beside the repository')

  for (const [file, counted] of data ? expectedCounts(data, folder) : []) {
    const expected = { ...counted, ...otherwise[file] }
    test(`${file} gives the expected counts`, async () => {
      const { session, messages } = await readSession(join(data!, file), agent)
      const counts = countsOf(session, messages)
      const keys = commonKeys(counts, expected)
      assert.equal(valuesOf(counts, keys), valuesOf(expected, keys))
      const { cwd } = expected as { readonly cwd?: string | null }
      if (cwd !== undefined) assert.is(session.trace.projectPath, cwd ?? undefined)
      const [model] = Object.entries(expected.models).sort(([, a], [, b]) => b - a)
      assert.is(session.trace.model, model?.[0])
      also(messages, expected)
    })
  }

  for (const file of data ? globSync(`agents/${folder}/**/*.jsonl`, { cwd: data }) : [])
    test(`${file} gives distinct ids, distinct orders, no content that must not be sent, and only adds messages when it grows`, async () => {
      const { messages } = await readSession(join(data!, file), agent)
      assert.is(new Set(messages.map(({ externalId }) => externalId)).size, messages.length)
      assert.is(new Set(messages.map(({ order }) => order)).size, messages.length)
      assert.not.match(JSON.stringify(messages), secrets)
      await assertGrowth(agent, join(path, basename(file)), readFileSync(join(data!, file), 'utf8'))
    })

  for (const file of data ? globSync(`agents/${folder}/**/*.jsonl`, { cwd: data }) : [])
    test(`${file} gives the same messages when it is read in parts`, () =>
      assertRecordedInParts(agent, join(data!, file), join(path, basename(file))))

  test.run()
}
