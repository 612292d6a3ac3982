import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { claudeCode } from '../../../../src/client/agents/claude-code/index.ts'
import type { Expected } from '../../support/shared-data.ts'
import { countsOf } from '../../support/counts.ts'
import { readSession } from '../../support/read-session.ts'
import { assertRecordedInParts } from '../../support/recorded.ts'
import { expectedCounts, sharedData } from '../../support/shared-data.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('recorded Claude Code sessions')
const data = sharedData()
const { path, remove } = tempFolder()
test.after(remove)

if (!data) test.skip('no recorded sessions beside the repository')

const picked = (expected: Expected, keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key, expected[key as keyof Expected]]))

/** In one file an answer and a summary are on one line, which the shared data count as lost. */
const TWO_ON_A_LINE = 'claude-code/130d7b7e-5801-4345-9bd6-f32fd9b8429b.jsonl'

for (const [file, counted] of data ? expectedCounts(data, 'claude') : []) {
  const expected = file === TWO_ON_A_LINE ? { ...counted, unparsedLines: 0 } : counted
  test(`${file} gives the expected counts`, async () => {
    const { session, messages } = await readSession(join(data!, file))
    const counts = countsOf(session, messages)
    assert.equal(counts, picked(expected, Object.keys(counts)))
    assert.is(session.trace.projectPath, expected.cwdsInOrder[0])
    const [model] = Object.entries(expected.models).sort(([, a], [, b]) => b - a)
    assert.is(session.trace.model, model?.[0])
  })
}

for (const file of data ? globSync('{claude-code,agents/claude}/**/*.jsonl', { cwd: data }) : []) {
  test(`${file} gives distinct ids, distinct orders and no content that must not be sent`, async () => {
    const { messages } = await readSession(join(data!, file))
    assert.is(new Set(messages.map(({ externalId }) => externalId)).size, messages.length)
    assert.is(new Set(messages.map(({ order }) => order)).size, messages.length)
    assert.not.match(
      JSON.stringify(messages),
      /"signature":|iVBORw0KGgoAAAANSUhEUg|"toolUseResult":|"trackedFileBackups":/,
    )
  })

  test(`${file} gives the same messages when it is read in parts`, () =>
    assertRecordedInParts(claudeCode, join(data!, file), join(path, basename(file))))
}

test.run()
