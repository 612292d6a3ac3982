import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copilotCli } from '../../../../src/client/agents/copilot-cli/index.ts'
import { answer, complete, event, prompt, reader, request, start } from '../../support/copilot-file.ts'
import { assertGrowth } from '../../support/growth.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('messages of a Copilot CLI session')
const { path, remove } = tempFolder()
test.after(remove)
const { messages, ids, parts, read } = reader(path)

test('a prompt holds the text that the user typed, not the text sent to the model (rule 2)', async () => {
  assert.equal(await messages(start(), prompt('e-1', 'Fix it')), [
    {
      externalId: 'e-1',
      role: 'user',
      order: 2,
      timestamp: Date.UTC(2026, 1, 1, 10),
      parts: [{ type: 'text', content: { text: 'Fix it' } }],
    },
  ])
  assert.equal(await ids(prompt('e-1', ' \n'), prompt('e-2', null)), [])
})

test('prompts whose source is the CLI or another agent are skipped (rule 2)', async () => {
  const found = await read(
    start(),
    prompt('e-1', 'a reminder', { source: 'system', parentAgentTaskId: 't-1' }),
    prompt('e-2', 'look into it', { source: 'agent-explore' }),
    prompt('e-3', 'typed', { parentAgentTaskId: 't-1' }),
    prompt('e-4', 'typed too', { source: 'user', parentAgentTaskId: 't-2' }),
    prompt('e-5', 'and this', { source: null }),
  )
  assert.equal(
    found.messages.map(({ externalId }) => externalId),
    ['e-3', 'e-4', 'e-5'],
  )
  assert.is(found.session.trace.title, 'typed')
})

test('attachments become text, and binary content is not sent (rule 2)', async () => {
  const attachments = [
    { type: 'file', path: '/w/app/notes.md', displayName: 'notes.md' },
    { type: 'file', path: '/w/app/other.md' },
    { type: 'blob', mimeType: 'image/png', data: 'A'.repeat(415_032) },
    { type: 'selection', filePath: 'C:\\w\\a.ts', text: 'secret' },
    {},
    'x',
  ]
  const found = await parts(prompt('e-1', 'see', { attachments }))
  assert.equal(
    found.map((part) => part.type === 'text' && part.content.text),
    ['see', '[file notes.md]', '[file other.md]', '[blob image/png 415 kB]', '[selection a.ts]', '[attachment]'],
  )
})

test('an answer has thinking, text and calls; encrypted or opaque content is not sent (rule 3)', async () => {
  const [found] = await messages(
    answer('e-1', 'Listing.', {
      model: 'gpt',
      reasoningText: 'Look',
      reasoningOpaque: 'secret',
      encryptedContent: 'secret',
      toolRequests: [request({ arguments: { command: 'ls' }, intentionSummary: 'x' }), 'x'],
    }),
  )
  assert.equal(found, {
    externalId: 'e-1',
    role: 'assistant',
    model: 'gpt',
    order: 1,
    timestamp: Date.UTC(2026, 1, 1, 10),
    parts: [
      { type: 'thinking', content: { text: 'Look' } },
      { type: 'text', content: { text: 'Listing.' } },
      { type: 'tool_call', content: { callId: 'c-1', toolName: 'bash', args: { command: 'ls' } } },
    ],
  })
  assert.equal(await ids(answer('e-1', ''), answer('e-2', ' \n', { reasoningText: ' ' })), [])
})

test('an answer without a model gets the last chosen model; the choice "auto" is ignored (rule 3)', async () => {
  const found = await messages(
    start({ selectedModel: 'auto' }),
    answer('e-1', 'x'),
    event('e-2', 'session.model_change', { newModel: 'a' }),
    answer('e-3', 'x'),
    answer('e-4', 'x', { model: 'own' }),
    event('e-5', 'assistant.turn_start', { model: 'b' }),
    answer('e-6', 'x'),
    event('e-7', 'session.auto_mode_resolved', { chosenModel: 'c' }),
    answer('e-8', 'x'),
    answer('e-9', 'x', { parentToolCallId: 'c-1' }),
    event('e-10', 'session.model_change', { newModel: 'auto' }),
    answer('e-11', 'x'),
  )
  assert.equal(
    found.map(({ model }) => model),
    [undefined, 'a', 'own', 'b', 'c', undefined, undefined],
  )
})

test('thinking in both an event and the answer is kept once, at its first place (rule 4)', async () => {
  const thought = (id: string) => event(id, 'assistant.reasoning', { reasoningId: 'r', content: 'Look' })
  const said = (id: string) => answer(id, 'x', { reasoningText: 'Look' })
  const thinking = async (...lines: string[]) =>
    (await messages(...lines)).filter(({ parts }) => parts.some(({ type }) => type === 'thinking')).length
  assert.is(await thinking(thought('e-1'), said('e-2')), 1)
  assert.equal(await ids(said('e-1'), thought('e-2')), ['e-1'])
  assert.is(await thinking(thought('e-1'), prompt('e-2', 'again'), said('e-3')), 2)
  assert.equal(await ids(event('e-1', 'assistant.reasoning', { content: ' ' })), [])
})

test('arguments of any type are converted to an object, and keep exact numbers (rule 5)', async () => {
  const argsOf = async (args: unknown) => {
    const [part] = await parts(answer('e-1', '', { toolRequests: [request({ arguments: args })] }))
    return part?.type === 'tool_call' ? part.content.args : undefined
  }
  assert.equal(await argsOf({ a: 1 }), { a: 1 })
  assert.equal(await argsOf('{"a":1}'), { a: 1 })
  assert.equal(await argsOf('{"a":'), { input: '{"a":' })
  assert.equal(await argsOf(null), {})
  const exact = '{"n":12345678901234567890,"__proto__":{"x":1}}'
  assert.is(JSON.stringify(await argsOf(exact)), exact)
  const line = answer('e-1', '', { toolRequests: [request({ arguments: 'EXACT' })] })
  const [part] = await parts(line.replace('"EXACT"', exact))
  assert.is(part?.type === 'tool_call' && JSON.stringify(part.content.args), exact)
})

test('the start event of a tool, before or after the answer, does not count as a second call (rule 5)', async () => {
  const begun = event('e-1', 'tool.execution_start', { toolCallId: 'c-1', toolName: 'bash', arguments: { a: 1 } })
  const asked = answer('e-2', '', { toolRequests: [request()] })
  assert.equal(await ids(begun, asked, complete('e-3')), ['e-2', 'e-3'])
  assert.equal(await ids(asked, begun, complete('e-3')), ['e-2', 'e-3'])
  const [result] = await parts(begun, complete('e-3'))
  assert.is(result?.type === 'tool_result' && result.content.toolName, 'bash')
})

test('results have the user role and the name of their tool, and are errors when success is false (rule 5)', async () => {
  const found = await messages(
    answer('e-1', '', { toolRequests: [request(), request({ toolCallId: undefined, name: 'read' })] }),
    complete('e-2'),
    complete('e-3', { success: false, result: undefined, error: { message: 'denied' } }),
    complete('e-4', { toolCallId: undefined, success: 'false', result: 'plain' }),
    complete('e-5', { toolCallId: 'lost', result: { content: [{ type: 'text', text: 'a' }, { type: 'image' }] } }),
    complete('e-6', { result: null }),
  )
  assert.equal(
    found.slice(1).map(({ role, parts }) => [role, parts.length, parts[0]?.content]),
    [
      ['user', 1, { callId: 'c-1', toolName: 'bash', output: 'ok', status: 'success' }],
      ['user', 1, { callId: 'c-1', toolName: 'bash', output: 'denied', status: 'error' }],
      ['user', 1, { callId: 'e-1-call-2', toolName: 'read', output: 'plain', status: 'success' }],
      ['user', 1, { callId: 'lost', toolName: 'unknown', output: 'a', status: 'success' }],
      ['user', 1, { callId: 'c-1', toolName: 'bash', output: '', status: 'success' }],
    ],
  )
})

test('errors and compactions are system messages (rule 6)', async () => {
  const found = await messages(
    event('e-1', 'session.error', { message: 'overloaded', stack: 'secret' }),
    event('e-2', 'session.error', { errorType: 'query' }),
    event('e-3', 'session.error', {}),
    event('e-4', 'session.compaction_complete', { success: true, summaryContent: 'sum' }),
    event('e-5', 'session.compaction_complete', {}),
    event('e-6', 'session.compaction_complete', { success: false, summaryContent: 'x' }),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.type, Object.values(parts[0]!.content)[0]]),
    [
      ['system', 'error', 'overloaded'],
      ['system', 'error', 'query'],
      ['system', 'error', 'Error'],
      ['system', 'text', 'sum'],
      ['system', 'text', 'Context compacted'],
    ],
  )
})

test('messages of a sub-agent belong to the session (rule 7)', async () => {
  const own = { parentToolCallId: 'c-1' }
  const asked = answer('e-1', '', { ...own, toolRequests: [request({ toolCallId: 'c-2' })] })
  assert.equal(await ids(asked, complete('e-2', { ...own, toolCallId: 'c-2' })), ['e-1', 'e-2'])
})

test('system instructions and unknown types are skipped (rule 8)', async () => {
  const types = [
    'system.message',
    'system.notification',
    'session.info',
    'session.truncation',
    'session.shutdown',
    'session.resume',
    'hook.start',
    'subagent.started',
    'assistant.turn_end',
    'abort',
    'new',
  ]
  const data = { content: 'x', message: 'x', reason: 'x' }
  const { messages, malformed } = await read(
    ...types.map((type, index) => event(`e-${index}`, type, data)),
    ...[null, 'x', 7].map((other, index) => event(`f-${index}`, 'user.message', other)),
    '{}',
  )
  assert.equal([messages, malformed], [[], []])
})

test('a repeated event is skipped; a different event with the same id is kept (rule 9)', async () => {
  assert.equal(await ids(prompt('e-1', 'a'), answer('e-2', 'b'), prompt('e-1', 'a')), ['e-1', 'e-2'])
  assert.equal(await ids(prompt('e-1', 'a'), answer('e-1', 'b')), ['e-1', 'e-1-2'])
})

test('an event without a valid id gets an id made from its line (rule 9)', async () => {
  const bare = prompt('e-1', 'a').replace('"id":"e-1",', '')
  const found = await ids(bare, bare, prompt('..', 'b'), prompt('x'.repeat(1_025), 'c'))
  for (const id of found) assert.match(id, /^line-/)
  assert.is(new Set(found).size, 4)
  assert.is(found[1], `${found[0]}-2`)
})

test('messages keep their ids and their order when the session grows', async () => {
  const lines = [
    start(),
    prompt('e-1', 'same'),
    event('e-2', 'tool.execution_start', { toolCallId: 'c-1', toolName: 'bash' }),
    event('e-3', 'assistant.reasoning', { content: 'ä🙂\u2028' }),
    answer('e-4', 'x', { reasoningText: 'ä🙂\u2028', toolRequests: [request()] }),
    'no JSON',
    complete('e-5'),
    '',
    prompt('e-1', 'same'),
    answer('e-1', 'x'),
    event(undefined, 'session.error', {}),
    event(undefined, 'session.error', {}),
  ]
  await assertGrowth(copilotCli, join(path, 'grown.jsonl'), lines.join('\n'))
})

test('a damaged line loses no other line', async () => {
  const { messages, malformed, session } = await read(prompt('e-1', 'a'), '{"type":', prompt('e-2', 'b'))
  assert.equal([messages.length, malformed, session.skippedLines], [2, [2], 1])
})

test('a shell that ended with another exit code than 0 has failed, by what the CLI has stored or put behind the output (rule 5)', async () => {
  const statusOf = async (name: string, result: object) =>
    (await parts(start(), answer('e-1', 'x', { toolRequests: [request({ name })] }), complete('e-2', { result }))).map(
      (part) => part.type === 'tool_result' && part.content.status,
    )[2]
  assert.is(await statusOf('bash', { content: 'no\n<exited with exit code 1>' }), 'error')
  assert.is(await statusOf('bash', { content: 'ok\n<exited with exit code 0>' }), 'success')
  assert.is(await statusOf('bash', { content: '<exited with exit code 1>\nprinted' }), 'success')
  assert.is(await statusOf('view', { content: '<exited with exit code 1>' }), 'success')
  assert.is(await statusOf('bash', { content: 'no', contents: [{ type: 'terminal', exitCode: 2 }] }), 'error')
})

test('a tool of an MCP server keeps its server (rule 5)', async () => {
  const named = { name: 'tracebook-search_sessions', mcpServerName: 'tracebook', mcpToolName: 'search_sessions' }
  const found = await parts(start(), answer('e-1', 'x', { toolRequests: [request(named)] }), complete('e-2'))
  assert.equal(
    found.flatMap((part) => ('toolName' in part.content ? part.content.toolName : [])),
    ['mcp__tracebook__search_sessions', 'mcp__tracebook__search_sessions'],
  )
})

test.run()
