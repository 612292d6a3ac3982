import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { geminiCli } from '../../../../src/client/agents/gemini-cli/index.ts'
import { readSession } from '../../support/read-session.ts'
import { writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'
import { answer, call, metadata, record, typed } from './records.ts'

const test = suite('messages of a Gemini CLI session')
const { path, remove } = tempFolder()
test.after(remove)

const read = (...lines: string[]) => readSession(writeSession(path, 's.jsonl', [metadata(), ...lines]), geminiCli)
const messages = async (...lines: string[]) => (await read(...lines)).messages
const partsOf = async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts)

test('an answer has its thoughts, its text, and each call followed by its result (rule 5)', async () => {
  const [message] = await messages(
    answer('m-1', 'Done.', {
      thoughts: [{ subject: 'Plan', description: 'Run ls' }, { description: 'then stop' }, { subject: ' ' }],
      toolCalls: [call('c-1', 'ls', { result: 'a.ts' }), call('c-2', 'rm', { status: 'awaiting_approval' })],
    }),
  )
  assert.equal(message, {
    externalId: 'm-1',
    role: 'assistant',
    model: 'gemini-3-pro',
    order: 1,
    timestamp: Date.UTC(2026, 3, 29, 10),
    parts: [
      { type: 'thinking', content: { text: 'Plan\nRun ls' } },
      { type: 'thinking', content: { text: 'then stop' } },
      { type: 'text', content: { text: 'Done.' } },
      { type: 'tool_call', content: { callId: 'c-1', toolName: 'ls', args: { path: '.' } } },
      { type: 'tool_result', content: { callId: 'c-1', toolName: 'ls', output: 'a.ts', status: 'success' } },
      { type: 'tool_call', content: { callId: 'c-2', toolName: 'rm', args: { path: '.' } } },
    ],
  })
})

test('the text that the user typed is preferred to the text sent to the model (rule 5)', async () => {
  assert.equal(
    await partsOf(typed('m-1', 'all of a.ts', { displayContent: '@a.ts' }), typed('m-2', 'b', { displayContent: ' ' })),
    [
      { type: 'text', content: { text: '@a.ts' } },
      { type: 'text', content: { text: 'b' } },
    ],
  )
})

test('notices are system messages, errors are error parts, other types and empty messages are skipped (rule 5)', async () => {
  const found = await messages(
    record('m-1', 'info', 'Request cancelled.'),
    record('m-2', 'warning', [{ text: 'Slow.' }]),
    record('m-3', 'error', 'No quota'),
    record('m-4', 'model', 'unknown type'),
    record('m-5', 'info', ' \n'),
    answer('m-6', ''),
    '{"later":"record"}',
  )
  assert.equal(
    found.map(({ role, model, parts }) => [role, model, parts]),
    [
      ['system', undefined, [{ type: 'text', content: { text: 'Request cancelled.' } }]],
      ['system', undefined, [{ type: 'text', content: { text: 'Slow.' } }]],
      ['system', undefined, [{ type: 'error', content: { message: 'No quota' } }]],
    ],
  )
})

test('a result is an error unless its status is success; its output is text, an error, or JSON (rule 6)', async () => {
  const response = (response: unknown) => [{ functionResponse: { id: 'c', name: 'x', response } }]
  const results = [
    call('c-1', 'x', { result: response({ output: 'fine' }) }),
    call('c-2', 'x', { result: response({ error: 'broken' }), status: 'error' }),
    call('c-3', 'x', { result: response({ output: { lines: 3 } }), status: 'cancelled' }),
    call('c-4', 'x', { result: [{ text: 'one' }, 'two'] }),
    call('c-5', 'x', { result: [] }),
    call('c-6', 'x', { result: null }),
  ]
  const found = (await partsOf(answer('m-1', '', { toolCalls: results }))).flatMap((part) =>
    part.type === 'tool_result' ? [[part.content.callId, part.content.output, part.content.status]] : [],
  )
  assert.equal(found, [
    ['c-1', 'fine', 'success'],
    ['c-2', 'broken', 'error'],
    ['c-3', '{"lines":3}', 'error'],
    ['c-4', 'one\ntwo', 'success'],
    ['c-5', '', 'success'],
  ])
})

test('calls without an id, a name or arguments are kept, with ids that stay the same', async () => {
  const bare = answer('m-1', '', {
    toolCalls: [
      { result: 'ok', status: 'success' },
      { name: 'ls', args: 'free text' },
    ],
  })
  const found = await partsOf(bare)
  assert.equal(found, [
    { type: 'tool_call', content: { callId: 'm-1-call-1', toolName: 'unknown', args: {} } },
    { type: 'tool_result', content: { callId: 'm-1-call-1', toolName: 'unknown', output: 'ok', status: 'success' } },
    { type: 'tool_call', content: { callId: 'm-1-call-2', toolName: 'ls', args: { input: 'free text' } } },
  ])
  assert.equal(await partsOf(bare, bare), found)
})

test('binary content is not sent: in prompts, results and arguments it is replaced with text (rule 7)', async () => {
  const data = 'QUFB'.repeat(1_000)
  const image = { inlineData: { mimeType: 'image/png', data } }
  const found = await messages(
    typed('m-1', [
      { text: 'see ' },
      { text: 'this' },
      image,
      { fileData: { mimeType: 'application/pdf', fileUri: 'x' } },
    ]),
    answer('m-2', '', {
      toolCalls: [
        call('c-1', 'shot', {
          args: { image: { mimeType: 'image/png', data }, url: `data:image/png;base64,${data}` },
          result: [image],
        }),
        call('c-2', 'read', { result: [{ functionResponse: { response: { output: 'ok' }, parts: [image] } }] }),
        call('c-3', 'raw', { result: [{ functionResponse: { response: { deep: [image.inlineData] } } }] }),
      ],
    }),
  )
  assert.not.match(JSON.stringify(found), /QUFBQUFB/)
  assert.equal(found[0]!.parts, [
    { type: 'text', content: { text: 'see this' } },
    { type: 'text', content: { text: '[image image/png 4 kB]' } },
    { type: 'text', content: { text: '[document application/pdf]' } },
  ])
  const texts = found[1]!.parts.map((part) =>
    part.type === 'tool_call' ? part.content.args : part.type === 'tool_result' && part.content.output,
  )
  assert.equal(texts.slice(0, 2), [
    { image: '[image image/png 4 kB]', url: '[image image/png 4 kB]' },
    '[image image/png 4 kB]',
  ])
  assert.is(texts[3], 'ok\n[image image/png 4 kB]')
  assert.is(texts[5], '{"deep":["[image image/png 4 kB]"]}')
})

test('arguments keep exact numbers and keys such as __proto__', async () => {
  const line = answer('m-1', '', { toolCalls: [call('c-1', 'x', { args: { n: 'BIG', p: 1 } })] })
  const found = await partsOf(line.replace('"BIG"', '12345678901234567890').replace('"p":1', '"__proto__":1'))
  assert.match(JSON.stringify(found), '"args":{"n":12345678901234567890,"__proto__":1}')
})

test('a deeply nested message does not make the session fail', async () => {
  for (const depth of [600, 300_000]) {
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const line = answer('m-2', '', { toolCalls: [call('c-1', 'x', { args: { a: 'DEEP' }, result: { deep: 'DEEP' } })] })
    const found = await messages(
      typed('m-1', 'a'),
      line.replaceAll('"DEEP"', () => deep),
    )
    assert.equal(
      found.map(({ externalId }) => externalId),
      ['m-1', 'm-2'],
    )
    JSON.stringify(found)
  }
})

const shell = async (output: string, more: object = {}) => {
  const parts = await partsOf(
    answer('m-1', '', { toolCalls: [call('c-1', 'run_shell_command', { result: output, ...more })] }),
  )
  return parts.map((part) => part.type === 'tool_result' && part.content.status)[1]
}

test('a shell has failed by the lines that the CLI puts behind its output, and not by what it printed (rule 6)', async () => {
  const wrapped = (lines: string) => `<untrusted_context>\n${lines}\n</untrusted_context>`
  const old = (code: string) =>
    `Command: x\nDirectory: (root)\nOutput: Exit Code: 7\nError: (none)\nExit Code: ${code}\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 4`
  assert.is(await shell(wrapped('Output: no\nExit Code: 3\nProcess Group PGID: 4')), 'error')
  assert.is(await shell(wrapped('Output: yes\nProcess Group PGID: 4')), 'success')
  assert.is(await shell(wrapped('Output: Exit Code: 3\nis what it says\nProcess Group PGID: 4')), 'success')
  assert.is(
    await shell(wrapped('Output: it says\nExit Code: 3\nProcess Group PGID: 4'), {
      resultDisplay: 'it says\nExit Code: 3',
    }),
    'success',
  )
  assert.is(await shell(wrapped('Output: (empty)\nSignal: 9\nProcess Group PGID: 4')), 'error')
  assert.is(await shell(old('0')), 'success')
  assert.is(await shell(old('1')), 'error')
  assert.is(await shell('fine', { name: 'read_file' }), 'success')
  assert.is(await shell('Exit Code: 3', { name: 'read_file' }), 'success')
})

test('a tool of an MCP server keeps its server (rule 6)', async () => {
  const nameOf = async (name: string, displayName?: string) =>
    (await partsOf(answer('m-1', '', { toolCalls: [call('c-1', name, { displayName })] }))).map(
      (part) => part.type === 'tool_call' && part.content.toolName,
    )
  const full = ['mcp__tracebook__search_sessions']
  assert.equal(await nameOf('search_sessions', 'search_sessions (tracebook MCP Server)'), full)
  assert.equal(await nameOf('mcp_tracebook_search_sessions'), full)
  assert.equal(await nameOf('mcp__tracebook__search_sessions'), full)
  assert.equal(await nameOf('read_file', 'ReadFile'), ['read_file'])
})

test.run()
