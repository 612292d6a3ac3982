import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { geminiCli } from '../../../../src/sync/agents/gemini-cli/index.ts'
import { comparable, countsOf } from '../../support/counts.ts'
import { readSession } from '../../support/read-session.ts'
import { expectedCounts, sharedData } from '../../support/shared-data.ts'

const test = suite('recorded Gemini CLI sessions')
const data = sharedData()

if (!data) test.skip('no recorded sessions beside the repository')

for (const [file, expected] of data ? expectedCounts(data, 'gemini') : []) {
  test(`${file} gives the expected counts`, async () => {
    const { session, messages } = await readSession(join(data!, file), geminiCli)
    const { counted, expected: wanted } = comparable(expected, countsOf(session, messages))
    assert.ok(Object.keys(wanted).length > 7)
    assert.equal(counted, wanted)
    assert.is(new Set(messages.map(({ order }) => order)).size, messages.length)
    assert.equal(
      messages.filter(({ model, role }) => model !== undefined && role !== 'assistant'),
      [],
    )
  })
}

test.run()
