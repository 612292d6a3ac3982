import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toolName } from '../../src/transcript/tool-names.ts'
import { countsOf, isCommand } from '../client/support/counts.ts'
import { type Expected, expectedCounts, sharedData } from '../client/support/shared-data.ts'
import { ask, type Detail, type Feed, messagesOf, tokenIn } from './support/api.ts'
import { inOwnWorld } from './support/world.ts'

const test = suite('recorded sessions, through the command line into the service')
const data = sharedData()

const sum = (counts: Readonly<Record<string, number>> = {}) => Object.values(counts).reduce((a, b) => a + b, 0)

/** `commands` of the user are no prompts, but counted as such by `expected`. */
const assertTrace = (trace: Detail, expected: Expected, commands: number) => {
  assert.is(trace.messageCount, expected.messages)
  assert.is(sum(trace.messageTypeCounts), expected.messages)
  const { user, system } = expected.messagesByRole
  const context = expected.toolResultOnlyMessages + system! + commands
  assert.is(trace.messageTypeCounts?.agent_context, context)
  assert.is(trace.messageTypeCounts?.user_message, user! + system! - context)
  assert.is(sum(trace.toolTypeCounts), expected.parts['tool_call'])
  for (const [name, count] of expected.toolsTop5) assert.is(trace.toolTypeCounts?.[toolName(name)], count, name)
}

const run = (folder: string) =>
  inOwnWorld(async ({ url, user }) => {
    const { how, out } = await user.run('sync', '--json', join(folder, 'claude-code'))
    assert.is(how, 0, 'one recorded line is no JSON object: it is skipped and said')
    assert.equal(
      [JSON.parse(out.trimEnd().split('\n').at(-1)!)].map(({ synced, failed }) => [synced, failed]),
      [[12, 0]],
    )

    const token = tokenIn(user.config)
    const { traces } = await ask<Feed>(url, '/v1/feed', { token })
    const counts = new Map(traces.map(({ externalId, messageCount }) => [externalId, messageCount]))
    assert.is(traces.length, 12)
    for (const [file, expected] of expectedCounts(folder, 'claude')) {
      if (!file.startsWith('claude-code/')) continue
      const id = basename(file, '.jsonl')
      assert.is(counts.get(id), expected.messages, file)
      const { trace } = await ask<{ trace: Detail }>(url, `/v1/traces/${id}`, { token })
      const messages = await messagesOf(url, id, token)
      assertTrace(trace, expected, messages.filter(isCommand).length)
      const { parentKind: _, ...fields } = trace
      const session = {
        externalId: id,
        trace: fields,
        skippedLines: expected.unparsedLines,
        messages: async function* () {},
      }
      const counted = countsOf(session, messages)
      assert.equal(
        counted,
        Object.fromEntries(Object.keys(counted).map((key) => [key, expected[key as keyof Expected]])),
      )
    }
  })

if (data) test('arrive with the counts that they have', () => run(data))
else test.skip('there are none beside the repository', () => {})

test.run()
