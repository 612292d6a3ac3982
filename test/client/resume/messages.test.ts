import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { AnswerOf } from '../../../src/client/api/requests.ts'
import { sessionMessages } from '../../../src/client/resume/messages.ts'

const test = suite('the messages of a session that goes on')

type Stored = AnswerOf<'GET /v1/traces/{externalId}/messages'>['messages'][number]

const call = (callId: string) => ({ type: 'tool_call', content: { callId, toolName: 'Bash', args: {} } })
const result = (callId: string, output: string) => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output, status: 'success' },
})

/** The ids of the messages up to one, with the outputs in them. */
const upTo = async (last: string, ...messages: readonly (readonly object[])[]): Promise<readonly string[]> => {
  async function* stored() {
    for (const [order, parts] of messages.entries())
      yield { externalId: `m${order}`, role: 'user', order, parts } as unknown as Stored
  }
  const said: string[] = []
  for await (const { externalId, parts } of sessionMessages(stored(), { isOwn: true, last }))
    said.push([externalId, ...parts.flatMap(({ content }) => ('output' in content ? content.output : []))].join(' '))
  return said
}

test('end with the results of the calls of the last one, whatever stands between', async () => {
  const messages = [
    [call('a'), call('b')],
    [result('b', 'of b')],
    [call('c')],
    [result('c', 'no'), result('a', 'of a')],
  ]
  assert.equal(await upTo('m0', ...messages, [result('a', 'again')]), ['m0', 'm1 of b', 'm3 of a'])
  assert.equal(await upTo('m1', ...messages), ['m0', 'm1 of b'])
})

test('end without the result of a later call that has the same id', async () => {
  assert.equal(await upTo('m0', [call('a')], [call('a')], [result('a', 'of the second')]), ['m0'])
  assert.equal(await upTo('m0', [call('a')], [result('a', 'of the first')], [call('a')]), ['m0', 'm1 of the first'])
})

test.run()
