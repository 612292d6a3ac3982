import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answer, call, event, item, line, meta, output, prompt, reader, turn } from '../../support/codex-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('messages of a Codex session')
const { path, remove } = tempFolder()
test.after(remove)
const { messages, ids, parts, read } = reader(path)

const image = `data:image/png;base64,${'A'.repeat(415_032)}`

test('each response item is a message, with the model of the last turn before (rule 2)', async () => {
  const found = await messages(
    meta('s-1'),
    answer('early', { id: 'm-1' }),
    turn('t-1', 'gpt-5.5'),
    prompt('Fix it', { id: 'm-2' }),
    answer('one', { id: 'm-3' }),
    answer('two', { id: 'm-4' }),
    turn('t-2', 'gpt-5.6'),
    answer('three', { id: 'm-5' }),
  )
  assert.equal(
    found.map(({ externalId, role, model, order }) => [externalId, role, model, order]),
    [
      ['m-1', 'assistant', undefined, 2],
      ['m-2', 'user', undefined, 4],
      ['m-3', 'assistant', 'gpt-5.5', 5],
      ['m-4', 'assistant', 'gpt-5.5', 6],
      ['m-5', 'assistant', 'gpt-5.6', 8],
    ],
  )
  assert.equal(found[1], {
    externalId: 'm-2',
    role: 'user',
    order: 4,
    timestamp: Date.UTC(2026, 1, 1, 10),
    parts: [{ type: 'text', content: { text: 'Fix it' } }],
  })
})

test('a payload without a type, but with a role and content, is a message (rule 2)', async () => {
  const found = await messages(
    item({ role: 'user', content: [{ type: 'input_text', text: 'a' }] }),
    item({ role: 'assistant', content: 'b' }),
    item({ role: 'user' }),
    item({ content: 'c' }),
    item('d'),
    item(null),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.content]),
    [
      ['user', { text: 'a' }],
      ['assistant', { text: 'b' }],
    ],
  )
})

const injected = [
  '# AGENTS.md instructions for /w/app',
  '<environment_context><cwd>/w</cwd></environment_context>',
  '<INSTRUCTIONS>secret</INSTRUCTIONS>',
  '<user_instructions>secret</user_instructions>',
  '<skill><name>x</name></skill>',
  '<turn_aborted>x</turn_aborted>',
  '<subagent_notification>{}</subagent_notification>',
  '<goal_context>x</goal_context>',
  '\n<codex_internal_context source="goal">x</codex_internal_context>',
]
const newer = [
  '<recommended_plugins>\nA list\n</recommended_plugins>',
  '<app-context>\nDesktop\n</app-context>',
  '<permissions instructions>\nsecret\n</permissions instructions>',
  '<user_action>\n  <action>review</action>\n</user_action>',
  '<image name=[Image #1]>',
  '</image>',
  '<in-app-browser-context source="ambient">secret</in-app-browser-context>',
  '<something_new kind="x">whatever comes next</something_new>',
  '<environment_context>a</environment_context>\n\n<something-else>b</something-else>\n',
]
for (const block of [...injected, ...newer])
  test(`a block that the user did not type is skipped: ${JSON.stringify(block.slice(0, 30))} (rule 3)`, async () => {
    assert.equal(await ids(prompt(block)), [])
    const [typed] = await parts(
      item({
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: block },
          { type: 'input_text', text: `see ${block}` },
        ],
      }),
    )
    assert.equal(typed, { type: 'text', content: { text: `see ${block}` } })
    assert.is((await parts(answer(block))).length, 1)
  })

test('text after inserted blocks, and unknown elements, are kept as typed by the user (rule 3)', async () => {
  const typedOf = async (...texts: readonly string[]) => {
    const content = texts.map((one) => ({ type: 'input_text', text: one }))
    const found = await parts(item({ type: 'message', role: 'user', content }))
    return found.map((part) => part.type === 'text' && part.content.text)
  }
  assert.equal(await typedOf('<environment_context>x</environment_context>\nFix it'), ['Fix it'])
  assert.equal(await typedOf('<app-context>a</app-context>\n<new_one>b</new_one>\n\nFix\nit\n'), ['Fix\nit\n'])
  assert.equal(await typedOf('# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>'), [])
  for (const typed of [
    '<div>why is this red?</div>',
    '<project>\n  <a/>\n</project>',
    '<not_closed> is a tag',
    'Use <app-context>x</app-context>',
  ])
    assert.equal(await typedOf(typed), [typed])
})

test('an app’s prompt is the text after the last heading that announces it (rule 3)', async () => {
  const typedOf = async (...content: readonly object[]) =>
    (await parts(item({ type: 'message', role: 'user', content }))).map(
      (part) => part.type === 'text' && part.content.text,
    )
  const block = (value: string) => ({ type: 'input_text', text: value })
  const context = '# Context from my IDE setup:\n\n## Active file: a.md\n'
  const quoted = `${context}\n## My request for Codex:\nquoted\n`
  assert.equal(await typedOf(block(`${quoted}\n## My request for Codex:\nFix it\n`)), ['Fix it'])
  assert.equal(await typedOf(block(`${context}\n## My request: Fix it`)), ['Fix it'])
  assert.equal(await typedOf(block(`${context}\n## My request for Codex:`), block('Fix it')), ['Fix it'])
  const picture = { type: 'input_image', image_url: image }
  assert.equal(await typedOf(picture, block(`${context}\n## My request for Codex:\nFix it`), block('</image>')), [
    '[image image/png 415 kB]',
    'Fix it',
  ])
  const comment = '# Browser comments:\nMake it blue\n\n## My request for Codex:\n\n'
  assert.equal(await typedOf(block(comment), picture), [comment, '[image image/png 415 kB]'])
  assert.equal(await typedOf(block('Write "## My request for Codex:" there')), [
    'Write "## My request for Codex:" there',
  ])
})

test('developer, system and session instructions are not sent (rule 3)', async () => {
  const { session, messages } = await read(
    meta('s-1', {
      base_instructions: { text: 'maker' },
      instructions: 'maker',
      dynamic_tools: [{ description: 'maker' }],
    }),
    line('turn_context', { model: 'm', user_instructions: 'maker', developer_instructions: 'maker' }),
    item({ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'maker' }] }),
    item({ type: 'message', role: 'system', content: [{ type: 'input_text', text: 'maker' }] }),
    line('world_state', { state: { agents_md: { text: 'maker' } } }),
    item({ type: 'tool_search_output', tools: [{ description: 'maker' }] }),
  )
  assert.equal(messages, [])
  assert.not.match(JSON.stringify(session), /maker/)
})

test('images are not sent: they are replaced with text, also inside results (rule 3)', async () => {
  const blocks = [
    { type: 'input_text', text: 'seen' },
    { type: 'input_image', image_url: image },
    { type: 'input_image', image_url: { url: image } },
    { type: 'input_image', image_url: 'https://host.example/secret.png' },
    { type: 'input_image', image_url: null },
  ]
  const placeholders = ['[image image/png 415 kB]', '[image image/png 415 kB]', '[image]']
  const [first, ...rest] = await parts(item({ type: 'message', role: 'user', content: blocks }))
  assert.equal(
    [first, ...rest].map((part) => part?.type === 'text' && part.content.text),
    ['seen', ...placeholders],
  )
  const [, result] = await parts(call({}), output(blocks))
  assert.is(result?.type === 'tool_result' && result.content.output, ['seen', ...placeholders].join('\n'))
})

test('a thinking part holds only the summary; encrypted content is not sent (rule 4)', async () => {
  const found = await parts(
    item({
      type: 'reasoning',
      summary: [
        { type: 'summary_text', text: '**Look**' },
        { type: 'summary_text', text: ' ' },
        { type: 'summary_text', text: 'Then act' },
      ],
      content: [{ type: 'reasoning_text', text: 'secret' }],
      encrypted_content: 'secret',
    }),
    item({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'x' }], encrypted_content: 'y' }),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: ' \n' }] }),
  )
  assert.equal(found, [{ type: 'thinking', content: { text: '**Look**\n\nThen act' } }])
  const encrypted = { type: 'encrypted_content', encrypted_content: 'secret' }
  const [, result] = await parts(call({}), output([encrypted, { type: 'input_text', text: 'plain' }]))
  assert.is(result?.type === 'tool_result' && result.content.output, 'plain')
})

test('binary content in the text of a result is not sent', async () => {
  const data = 'A'.repeat(415_032)
  const resultOf = async (value: unknown) => {
    const [part] = await parts(output(value))
    return part?.type === 'tool_result' && part.content.output
  }
  assert.is(await resultOf(`see ${image}, ok`), 'see [data image/png 415 kB], ok')
  const mcp = { type: 'image', data, mimeType: 'image/png' }
  const placed = '{"type":"image","data":"[data 415 kB]","mimeType":"image/png"}'
  assert.is(await resultOf(JSON.stringify([mcp])), `[${placed}]`)
  assert.is(await resultOf(JSON.stringify({ text: JSON.stringify(mcp) })), JSON.stringify({ text: placed }))
  const short = 'data:text/plain;base64,SGk= {"data":"SGk="}'
  assert.is(await resultOf(short), short)
})

const argsOf = async (fields: Record<string, unknown>) => {
  const [part] = await parts(call(fields))
  return part?.type === 'tool_call' ? part.content.args : undefined
}

test('arguments of any type are converted to an object (rule 5)', async () => {
  assert.equal(await argsOf({ arguments: '{"cmd":"ls"}' }), { cmd: 'ls' })
  assert.equal(await argsOf({ arguments: { cmd: 'ls' } }), { cmd: 'ls' })
  assert.equal(await argsOf({ arguments: '{"cmd":"l' }), { input: '{"cmd":"l' })
  assert.equal(await argsOf({ arguments: '[1]' }), { input: '[1]' })
  assert.equal(await argsOf({ arguments: [1] }), { input: [1] })
  assert.equal(await argsOf({ arguments: ' ' }), {})
  assert.equal(await argsOf({ arguments: null }), {})
  assert.equal(await argsOf({}), {})
  assert.equal(await argsOf({ type: 'custom_tool_call', input: '{"a":1}' }), { input: '{"a":1}' })
  assert.equal(await argsOf({ type: 'custom_tool_call' }), {})
})

test('arguments keep exact numbers and __proto__ keys, also if they are JSON in a string (rule 5)', async () => {
  const exact = '{"n":12345678901234567890,"m":-0,"__proto__":{"x":1}}'
  assert.is(JSON.stringify(await argsOf({ arguments: exact })), exact)
  const [part] = await parts(call({ arguments: 'EXACT' }).replace('"EXACT"', exact))
  assert.is(part?.type === 'tool_call' && JSON.stringify(part.content.args), exact)
})

test('each kind of call has a tool name, and a result has the name of its call (rule 5)', async () => {
  const found = await parts(
    item({ type: 'custom_tool_call', call_id: 'c-2', name: 'apply_patch', input: '*** Begin Patch' }),
    item({ type: 'local_shell_call', id: 'l-1', call_id: 'c-3', action: { type: 'exec', command: ['ls'] } }),
    item({ type: 'web_search_call', id: 'w-1', action: { type: 'search', query: 'x' } }),
    item({ type: 'image_generation_call', id: 'i-1', revised_prompt: 'a cat', result: image }),
    item({ type: 'function_call', name: 'nameless', arguments: '{}' }),
    item({ type: 'custom_tool_call_output', call_id: 'c-2', output: 'done' }),
    item({ type: 'function_call_output', call_id: 'c-3', output: 'a.ts' }),
    item({ type: 'function_call_output', output: 'of the nameless' }),
    item({ type: 'custom_tool_call_output', call_id: 'c-9', name: 'lost', output: '' }),
    item({ type: 'function_call_output', call_id: 'c-8' }),
  )
  assert.equal(
    found.map((part) => (part.type === 'tool_call' ? [part.content.toolName, part.content.args] : '')).slice(0, 5),
    [
      ['apply_patch', { input: '*** Begin Patch' }],
      ['local_shell', { type: 'exec', command: ['ls'] }],
      ['web_search', { type: 'search', query: 'x' }],
      ['image_generation', { prompt: 'a cat' }],
      ['nameless', {}],
    ],
  )
  assert.equal(
    found.flatMap((part) => (part.type === 'tool_result' ? [Object.values(part.content).slice(1)] : [])),
    [
      ['apply_patch', 'done', 'success'],
      ['local_shell', 'a.ts', 'success'],
      ['nameless', 'of the nameless', 'success'],
      ['lost', '', 'success'],
      ['unknown', '', 'success'],
    ],
  )
})

const outputOf = async (value: unknown) => {
  const [part] = await parts(output(value))
  return part?.type === 'tool_result' ? part.content : undefined
}

test('an output of any form is converted to text (rule 5)', async () => {
  const text = { type: 'input_text', text: 'a.ts' }
  for (const value of ['a.ts', text, [text], { content: 'a.ts' }, { content: [text] }])
    assert.is((await outputOf(value))?.output, 'a.ts')
  const old = { output: 'no such file\n', metadata: { exit_code: 2, duration_seconds: 0.1 } }
  assert.is((await outputOf(JSON.stringify(old)))?.output, 'Exit code: 2\nno such file\n')
  for (const other of ['{"output":"x"}', '{"output":{},"metadata":{"exit_code":0}}', '{"output":'])
    assert.is((await outputOf(other))?.output, other)
})

const failures: readonly unknown[] = [
  'Chunk ID: 1f\nWall time: 0.05 seconds\nProcess exited with code 1\nOriginal token count: 5\nOutput:\nx',
  'Exit code: 127\nWall time: 0 seconds\nOutput:\nsh: not found',
  JSON.stringify({ output: 'x', metadata: { exit_code: 2, duration_seconds: 0.1 } }),
  [{ type: 'input_text', text: 'Script failed\nWall time 0.1 seconds\nOutput:\n' }],
  { content: 'a.ts', success: false },
  'apply_patch verification failed: Failed to find expected lines in a.ts:\nx',
  'exec_command failed for `/bin/bash -lc ls`: CreateProcess { message: "Rejected" }',
  'failed to parse function arguments: missing field `cmd`',
  'aborted by user after 3.2s',
]
const successes: readonly unknown[] = [
  'Wall time: 0.05 seconds\nProcess exited with code 0\nOutput:\nProcess exited with code 1',
  'Exit code: 0\nOutput:\nexecution error: quoted',
  JSON.stringify({ output: 'Exit code: 1', metadata: { exit_code: 0, duration_seconds: 0.1 } }),
  'Script completed\nWall time 0.1 seconds\nOutput:\nScript failed',
  'it says: apply_patch verification failed',
  'a.ts\nExit code: 1',
  '',
]
test('a result is an error if the CLI says that the call failed, not if a program’s output says so (rule 6)', async () => {
  for (const value of failures) assert.is((await outputOf(value))?.status, 'error', JSON.stringify(value))
  for (const value of successes) assert.is((await outputOf(value))?.status, 'success', JSON.stringify(value))
})

test('an event before or after a result can mark its call as failed (rule 6)', async () => {
  const statuses = async (...events: readonly string[]) => {
    const results = ['c-1', 'c-2'].map((id) => output('x', { call_id: id }))
    const found = await parts(call({}), call({ call_id: 'c-2' }), results[0]!, ...events, results[1]!)
    return found.flatMap((part) => (part.type === 'tool_result' ? part.content.status : []))
  }
  const ended = (id: string, code: number, more = {}) =>
    event('exec_command_end', { call_id: id, exit_code: code, ...more })
  assert.equal(await statuses(ended('c-1', 1)), ['error', 'success'])
  assert.equal(await statuses(ended('c-2', -1)), ['success', 'error'])
  assert.equal(await statuses(ended('c-1', 0), ended('c-2', 1, { source: 'user_shell' })), ['success', 'success'])
  assert.equal(await statuses(event('patch_apply_end', { call_id: 'c-2', success: false })), ['success', 'error'])
  assert.equal(await statuses(event('patch_apply_end', { call_id: 'c-2', success: true })), ['success', 'success'])
})

test('a script is stored with the names of the tools that it calls (rule 5)', async () => {
  const script = (name: string, input: string) => argsOf({ type: 'custom_tool_call', name, input })
  const input = 'const r = await tools.exec_command({cmd:"ls"})\nawait tools["apply_patch"](p); tools.exec_command({})'
  assert.equal(await script('exec', input), { input, tools: ['exec_command', 'apply_patch'] })
  assert.equal(await script('exec', 'tools[name]()'), { input: 'tools[name]()' })
  assert.equal(await script('apply_patch', input), { input })
})

test('messages between agents are kept, with the session of the sub-agent (rule 8)', async () => {
  const said = (author: string, recipient: string, ...content: readonly object[]) =>
    item({ type: 'agent_message', author, recipient, content })
  const { messages: found, session } = await read(
    meta('s-1'),
    said('/root/early', '/root', { type: 'input_text', text: 'hm' }),
    event('sub_agent_activity', { agent_thread_id: 's-2', agent_path: '/root/review', kind: 'started' }),
    said(
      '/root/review',
      '/root',
      { type: 'input_text', text: 'PASS' },
      { type: 'encrypted_content', encrypted_content: 'x' },
    ),
    said('/root', '/root/review', { type: 'encrypted_content', encrypted_content: 'secret' }),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.content]),
    [
      ['system', { text: '/root/early to /root:\nhm' }],
      ['system', { text: '/root/review (session s-2) to /root:\nPASS' }],
    ],
  )
  assert.is(session.trace.title, undefined)
})

test('turns that the user undid are skipped (rule 12)', async () => {
  const textsOf = async (...lines: readonly string[]) => {
    const { messages: found, session } = await read(meta('s-1'), ...lines)
    const texts = found.flatMap(({ parts }) => parts.map((part) => part.type === 'text' && part.content.text))
    return [session.trace.title, ...texts]
  }
  const back = (count: unknown) => event('thread_rolled_back', { num_turns: count })
  const two = [prompt('one'), answer('1'), prompt('two'), answer('2')]
  assert.equal(await textsOf(...two, back(1), prompt('three')), ['one', 'one', '1', 'three'])
  assert.equal(await textsOf(...two, back(1), back(1), prompt('three')), ['three', 'three'])
  assert.equal(await textsOf(answer('0'), ...two, back(9), prompt('three'), back(1), prompt('four')), [
    'four',
    '0',
    'four',
  ])
  assert.equal(await textsOf(...two, back(0), back('1'), back(null)), ['one', 'one', '1', 'two', '2'])
})

test('events repeat other lines, so that only error events become messages (rule 6)', async () => {
  const found = await messages(
    prompt('Fix it'),
    event('user_message', { message: 'Fix it' }),
    event('agent_reasoning', { text: 'Look' }),
    event('agent_message', { message: 'Done' }),
    event('exec_command_end', { exit_code: 1, aggregated_output: 'x' }),
    event('token_count', { info: {} }),
    event('error', { message: 'overloaded', codex_error_info: 'x' }),
    event('error', { message: ' ' }),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.type, parts[0]?.content]),
    [
      ['user', 'text', { text: 'Fix it' }],
      ['system', 'error', { message: 'overloaded' }],
      ['system', 'error', { message: 'Error' }],
    ],
  )
})

test('a compaction is a system message that leaves out the replaced history (rule 7)', async () => {
  const history = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'again' }] }]
  const found = await messages(
    line('compacted', { message: 'The summary', replacement_history: history }),
    line('compacted', { message: '', replacement_history: history }),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts]),
    ['The summary', 'Context compacted'].map((text) => ['system', [{ type: 'text', content: { text } }]]),
  )
})

test('unknown types are skipped at every level (rule 8)', async () => {
  const types = ['ghost_snapshot', 'compaction', 'tool_search_call', 'additional_tools', 'new', 7, null]
  const { messages, malformed } = await read(
    ...types.map((type) => item({ type, role: 'user', content: [{ type: 'input_text', text: 'x' }], author: 'a' })),
    line('inter_agent_communication', { type: 'message', role: 'user', content: 'x' }),
    line('new', { type: 'message', role: 'user', content: 'x' }),
    '{}',
    '{"type":"response_item"}',
    item({ type: 'message', role: 'user', content: [{ type: 'input_audio', data: 'AAAA' }, 7, null] }),
    item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: ' \n' }] }),
  )
  assert.equal(messages, [])
  assert.equal(malformed, [])
})

test('an error that ends a turn is stored, once if an event has told it before (rule 6)', async () => {
  const ended = (error: unknown) => event('task_complete', { turn_id: 't-1', last_agent_message: null, error })
  const errors = async (...lines: string[]) =>
    (await parts(...lines)).map((part) => part.type === 'error' && part.content.message)
  const overloaded = { message: 'overloaded', codex_error_info: 'server_overloaded' }
  assert.equal(await errors(event('task_started'), ended(overloaded)), ['overloaded'])
  assert.equal(await errors(event('error', { message: 'overloaded' }), ended(overloaded)), ['overloaded'])
  assert.equal(await errors(ended(overloaded), event('task_started'), ended('overloaded'), ended({ code: 3 })), [
    'overloaded',
    'overloaded',
    'Error',
  ])
  assert.equal(await errors(ended(null), event('task_complete', {})), [])
})

test('a call fails by the event that its item is complete (rule 6)', async () => {
  const completed = (thing: object) => event('item_completed', { item: { id: 'c-1', ...thing } })
  const statusOf = async (event: string) =>
    (await parts(call({}), output('done'), event)).map((part) => part.type === 'tool_result' && part.content.status)[1]
  assert.is(await statusOf(completed({ type: 'CommandExecution', exit_code: 3 })), 'error')
  assert.is(await statusOf(completed({ type: 'CommandExecution', exit_code: 0 })), 'success')
  assert.is(await statusOf(completed({ type: 'FileChange', status: 'failed' })), 'error')
  assert.is(await statusOf(completed({ type: 'AgentMessage', status: 'failed' })), 'success')
})

test('the summary of a compaction is stored once, and is no answer (rule 7)', async () => {
  const summary = JSON.stringify({
    ...JSON.parse(answer('SUMMARY', { id: 'm-1' })),
    metadata: { compaction_output: true },
  })
  const said = async (...lines: string[]) =>
    (await messages(...lines)).map(({ role, parts: [part] }) => [role, part?.type === 'text' && part.content.text])
  assert.equal(await said(summary, line('compacted', { message: 'SUMMARY' })), [['system', 'SUMMARY']])
  assert.equal(await said(summary, line('compacted', { message: '' })), [['system', 'SUMMARY']])
  assert.equal(await said(line('compacted', { message: '' })), [['system', 'Context compacted']])
})

test('a tool of an MCP server keeps its server (rule 5)', async () => {
  const nameOf = async (more: object) =>
    (await parts(call({ ...more }), output('x'))).map((part) => 'toolName' in part.content && part.content.toolName)
  const full = 'mcp__tracebook__search_sessions'
  for (const namespace of ['mcp__tracebook', 'mcp__tracebook__'])
    assert.equal(await nameOf({ name: 'search_sessions', namespace }), [full, full])
  assert.equal(await nameOf({ name: full, namespace: 'mcp__tracebook__' }), [full, full])
  assert.equal(await nameOf({ name: 'spawn_agent', namespace: 'collaboration' }), ['spawn_agent', 'spawn_agent'])
})

test.run()
