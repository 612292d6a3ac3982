import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { qwenCode } from '../../../../src/client/agents/qwen-code/index.ts'
import { assertGrowth } from '../../support/growth.ts'
import { answer, call, reader, record, result, system, text, typed } from '../../support/qwen-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('messages of a Qwen Code session')
const { path, remove } = tempFolder()
test.after(remove)
const { ids, messages, texts } = reader(path)

const image = { inlineData: { mimeType: 'image/png', data: 'a'.repeat(2_000) } }

test('a prompt, the answer with thinking and a call, and its result are messages in their order (rules 1, 5 and 6)', async () => {
  const found = await messages(
    typed('u-1', null, 'List them'),
    answer('a-1', 'u-1', [
      { text: 'Look first.', thought: true, thoughtSignature: 'x' },
      text('Let me '),
      text('look.'),
      call('c-1'),
    ]),
    result('r-1', 'a-1', { output: 'a.ts' }, { toolCallResult: { callId: 'c-1', status: 'success' } }),
  )
  assert.equal(
    found.map(({ externalId, role, model, order }) => [externalId, role, model, order]),
    [
      ['u-1', 'user', undefined, 1],
      ['a-1', 'assistant', 'qwen3-coder-plus', 2],
      ['r-1', 'user', undefined, 3],
    ],
  )
  assert.equal(found[1]!.parts, [
    { type: 'thinking', content: { text: 'Look first.' } },
    { type: 'text', content: { text: 'Let me look.' } },
    { type: 'tool_call', content: { callId: 'c-1', toolName: 'run_shell_command', args: { command: 'ls' } } },
  ])
  assert.equal(found[2]!.parts, [
    {
      type: 'tool_result',
      content: { callId: 'c-1', toolName: 'run_shell_command', output: 'a.ts', status: 'success' },
    },
  ])
  assert.is(found[0]!.timestamp, Date.parse('2026-11-28T15:00:00.000Z'))
})

const statusOf = async (response: object, status?: string) => {
  const toolCallResult = { callId: 'c-1', status, resultDisplay: { originalContent: 'SECRET' } }
  const [found] = await messages(result('r-1', null, { ...response }, { toolCallResult }))
  assert.not.match(JSON.stringify(found), 'SECRET')
  const [part] = found!.parts
  return part?.type === 'tool_result' ? [part.content.status, part.content.output] : []
}

test('a result is an error by what the CLI says of the call, not by its text (rule 6)', async () => {
  assert.equal(await statusOf({ error: 'Exit Code: 3' }, 'error'), ['error', 'Exit Code: 3'])
  assert.equal(await statusOf({ error: 'gone' }), ['error', 'gone'])
  assert.equal(await statusOf({ output: 'stopped' }, 'cancelled'), ['error', 'stopped'])
  assert.equal(await statusOf({ output: 'error: none' }, 'success'), ['success', 'error: none'])
})

test('parts behind a result belong to its output, and binary content never leaves (rules 6 and 12)', async () => {
  const parts = [
    { functionResponse: { id: 'c-1', name: 'read_file', response: { output: 'one' } } },
    image,
    { functionResponse: { id: 'c-2', name: 'read_file', response: { output: 'two' } } },
  ]
  const [found] = await messages(record('r-1', null, 'tool_result', { message: { role: 'user', parts } }))
  assert.equal(
    found!.parts.map((part) => part.type === 'tool_result' && part.content.output),
    ['one\n[image image/png 2 kB]', 'two'],
  )
})

test('a prompt is shown as it was typed (rule 3)', async () => {
  const hooked = [text('Fix it'), text('<qwen:user-prompt-submit-context>\nRULES\n</qwen:user-prompt-submit-context>')]
  const payload = { displayText: 'As typed' }
  assert.equal(
    await texts(
      typed('u-1', null, '', { message: { role: 'user', parts: hooked } }),
      typed('u-2', 'u-1', '', {
        message: { role: 'user', parts: hooked },
        systemPayload: { ...payload, hookContext: 'RULES' },
      }),
      typed('u-3', 'u-2', 'The user said: As typed', { subtype: 'mid_turn_user_message', systemPayload: payload }),
      typed('u-4', 'u-3', 'spoken', { subtype: 'realtime_message' }),
      typed('u-5', 'u-4', '<system-reminder>x</system-reminder>of an older version', { provenance: undefined }),
      typed('u-6', 'u-5', '', { message: { role: 'user', parts: [text('See '), image] } }),
    ),
    [
      ['user', 'Fix it'],
      ['user', 'As typed'],
      ['user', 'As typed'],
      ['user', 'spoken'],
      ['user', 'of an older version'],
      ['user', 'See  | [image image/png 2 kB]'],
    ],
  )
})

test('the prompt that a command stands for is shown as the command (rule 3)', async () => {
  const init =
    '\nYou are Qwen Code, an interactive CLI agent. Analyze the current directory and generate a comprehensive QWEN.md file'
  assert.equal(
    await texts(
      system('s-1', null, 'slash_command', {
        phase: 'invocation',
        rawCommand: '/review the commit',
        sentToModel: true,
      }),
      typed('u-1', 's-1', 'Review the code with care. ...'),
      typed('u-2', 'u-1', 'go on'),
      typed('u-3', 'u-2', init),
    ),
    [
      ['user', '/review the commit'],
      ['user', 'go on'],
      ['user', '/init'],
    ],
  )
})

test('what was not typed is no prompt (rule 4)', async () => {
  const notification =
    '<task-notification>\n<summary>Agent done.</summary>\n<result>HELPER RESULT</result>\n</task-notification>'
  assert.equal(
    await texts(
      typed('n-1', null, notification, {
        subtype: 'notification',
        provenance: 'system',
        systemPayload: { displayText: 'Background agent "Count" completed.' },
      }),
      typed('n-2', 'n-1', 'look again', { subtype: 'cron', provenance: 'system' }),
      typed('n-3', 'n-2', 'you have a goal', { subtype: 'goal_runtime', provenance: 'goal_runtime' }),
      system('s-1', 'n-3', 'slash_command', { phase: 'invocation', rawCommand: '/about', sentToModel: false }),
      system('s-2', 's-1', 'slash_command', {
        phase: 'result',
        rawCommand: '/about',
        outputHistoryItems: [{ type: 'info', text: '0.24.4' }, { type: 'about' }],
      }),
      system('s-3', 's-2', 'slash_command', { phase: 'invocation', rawCommand: '/hidden', hiddenInvocation: true }),
    ),
    [
      ['system', 'Background agent "Count" completed.\n\nHELPER RESULT'],
      ['system', 'look again'],
      ['system', '/about'],
      ['system', '0.24.4'],
    ],
  )
})

test('compactions and errors of the provider are messages of the system (rules 7 and 8)', async () => {
  const compressedHistory = [
    {
      role: 'user',
      parts: [text('What was done.\n\nResume the prior task using the summary above. Continue.'), text('<file>')],
    },
    { role: 'model', parts: [text('Got it.')] },
  ]
  const error = { 'event.name': 'qwen-code.api_error', error_message: '400 refused', error_type: 'BadRequestError' }
  const found = await messages(
    system('s-1', null, 'chat_compression', { info: {}, compressedHistory }),
    system('s-2', 's-1', 'chat_compression', {
      info: {},
      compressedHistory: [{ role: 'user', parts: [text('hello')] }],
    }),
    system('s-3', 's-2', 'ui_telemetry', { uiEvent: error }),
    system('s-4', 's-3', 'ui_telemetry', { uiEvent: { ...error, subagent_name: 'helper' } }),
    system('s-5', 's-4', 'ui_telemetry', { uiEvent: { 'event.name': 'qwen-code.api_response' } }),
    system('s-6', 's-5', 'attribution_snapshot', { snapshot: {} }),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts]),
    [
      ['system', [{ type: 'text', content: { text: 'What was done.' } }]],
      ['system', [{ type: 'text', content: { text: 'Context compressed' } }]],
      ['system', [{ type: 'error', content: { message: '400 refused' } }]],
    ],
  )
})

test('the conversation is the path to the last record, without what was taken back (rule 2)', async () => {
  const lines = [
    typed('u-1', null, 'one'),
    answer('a-1', 'u-1', [text('first')]),
    typed('u-2', 'a-1', 'taken back'),
    answer('a-2', 'u-2', [text('in vain')]),
    system('s-1', 'a-1', 'rewind', {}),
    typed('u-3', 's-1', 'instead'),
  ]
  assert.equal(await ids(...lines.slice(0, 4)), ['u-1', 'a-1', 'u-2', 'a-2'])
  assert.equal(await ids(...lines), ['u-1', 'a-1', 'u-3'])
  const title = system('t-1', 'a-1', 'custom_title', { customTitle: 'A title' })
  assert.equal(await ids(...lines, title), ['u-1', 'a-1', 'u-3'], 'a title stands beside the path')
  assert.equal(await ids(...lines, 'no record', answer('a-4', 'lost', [text('then')])), ['u-1', 'a-1', 'u-3', 'a-4'])
})

test('messages keep their ids and their order when the session grows', () =>
  assertGrowth(
    qwenCode,
    join(path, 'chats', 'grown.jsonl'),
    [
      typed('u-1', null, 'ä🙂\u2028'),
      answer(undefined, 'u-1', [call(undefined)]),
      answer(undefined, 'lost', [call(undefined)]),
      answer(undefined, 'lost', [call(undefined)]),
      result('r-1', 'lost', { output: '' }),
      'no JSON',
      answer('a-1', 'r-1', [text('end')]),
    ].join('\n'),
  ))

test.run()
