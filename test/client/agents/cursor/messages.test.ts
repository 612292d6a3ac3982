import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cursor } from '../../../../src/client/agents/cursor/index.ts'
import { readSession } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'
import { cursorDatabase, said, typed, used } from './database-file.ts'

const test = suite('messages of a session in Cursor’s database')
const { path: root, remove } = tempFolder()
test.after(remove)

let databases = 0
type Writer = ReturnType<typeof cursorDatabase>
type Stored = Readonly<Record<string, unknown>>

const read = async (write: (database: Writer) => void) => {
  const path = join(root, String(++databases), 'state.vscdb')
  const database = cursorDatabase(path)
  write(database)
  const found = await readSession(path, cursor)
  database.close()
  return found
}

/** The messages of these bubbles, whose ids are `b-1` and so on. */
const messagesOf = async (...bubbles: readonly (Stored | string)[]) =>
  (
    await read(({ composer, bubble }) => {
      composer(
        'c-1',
        bubbles.map((_, index) => `b-${index + 1}`),
      )
      bubbles.forEach((one, index) => bubble('c-1', `b-${index + 1}`, one))
    })
  ).messages
const partsOf = async (...bubbles: readonly (Stored | string)[]) =>
  (await messagesOf(...bubbles)).flatMap(({ parts }) => parts)

test('bubbles are messages, in the order in which the session lists them (rules 3 and 4)', async () => {
  const { messages } = await read(({ composer, bubble }) => {
    composer('c-1', ['b-2', 'b-1', 'b-9', 'b-2'], { modelConfig: { modelName: 'default' } })
    bubble(
      'c-1',
      'b-1',
      said('Done.', {
        thinking: { text: 'Look.' },
        modelInfo: { modelName: 'claude' },
        createdAt: '2026-02-01T10:00:05Z',
      }),
    )
    bubble('c-1', 'b-2', typed('Fix it', { createdAt: '2026-02-01T10:00:00Z' }))
    bubble('c-1', 'b-3', said('abandoned'))
    bubble('c-10', 'b-9', said('of another session'))
  })
  assert.equal(messages, [
    {
      externalId: 'b-2',
      role: 'user',
      order: 1,
      timestamp: Date.UTC(2026, 1, 1, 10),
      parts: [{ type: 'text', content: { text: 'Fix it' } }],
    },
    {
      externalId: 'b-1',
      role: 'assistant',
      model: 'claude',
      order: 2,
      timestamp: Date.UTC(2026, 1, 1, 10, 0, 5),
      parts: [
        { type: 'thinking', content: { text: 'Look.' } },
        { type: 'text', content: { text: 'Done.' } },
      ],
    },
  ])
})

test('bubbles that are not shown, empty ones and unknown types are left out (rules 3 and 4)', async () => {
  const { messages } = await read(({ composer, bubble }) => {
    const headers = [
      { bubbleId: 'b-1', grouping: { isRenderable: false } },
      { bubbleId: 'b-2', grouping: { isRenderable: true } },
      { bubbleId: 'b-3' },
      { bubbleId: 'b-4' },
    ]
    composer('c-1', [], { fullConversationHeadersOnly: headers, modelConfig: { modelName: 'default' } })
    for (const id of ['b-1', 'b-2']) bubble('c-1', id, said(id))
    bubble('c-1', 'b-3', said(' '))
    bubble('c-1', 'b-4', { type: 3, text: 'of tomorrow' })
  })
  assert.equal(
    messages.map(({ externalId, order, model }) => [externalId, order, model]),
    [['b-2', 2, 'default']],
  )
})

test('a tool’s result follows its call as soon as there is one (rule 5)', async () => {
  const found = await partsOf(
    used('read', { status: 'completed', result: '{"contents":"a"}' }),
    used('grep', { status: 'loading', rawArgs: '', params: '{"pattern":"x"}' }),
    used('edit', { status: 'completed', rawArgs: 'no JSON' }),
  )
  assert.equal(found, [
    { type: 'tool_call', content: { callId: 'call-read', toolName: 'read', args: { command: 'ls' } } },
    {
      type: 'tool_result',
      content: { callId: 'call-read', toolName: 'read', output: '{"contents":"a"}', status: 'success' },
    },
    { type: 'tool_call', content: { callId: 'call-grep', toolName: 'grep', args: { pattern: 'x' } } },
    { type: 'tool_call', content: { callId: 'call-edit', toolName: 'edit', args: { input: 'no JSON' } } },
    { type: 'tool_result', content: { callId: 'call-edit', toolName: 'edit', output: '', status: 'success' } },
  ])
})

test('errors, cancellations and the exit codes of shells are failures (rule 5)', async () => {
  const results = await partsOf(
    used('a', { status: 'error', error: '{"clientVisibleErrorMessage":"not found","modelVisibleErrorMessage":"x"}' }),
    used('b', { status: 'cancelled' }),
    used('c', { status: 'completed', result: '{"output":"no","exitCodeV2":1}' }),
    used('d', { status: 'completed', result: '{"output":"yes","exitCodeV2":0}' }),
    used('e', { result: '"text"', error: 'broken' }),
  )
  assert.equal(
    results.flatMap((part) =>
      part.type === 'tool_result' ? [[part.content.toolName, part.content.output, part.content.status]] : [],
    ),
    [
      ['a', 'not found', 'error'],
      ['b', '', 'error'],
      ['c', '{"output":"no","exitCodeV2":1}', 'error'],
      ['d', '{"output":"yes","exitCodeV2":0}', 'success'],
      ['e', 'text', 'error'],
    ],
  )
})

test('rewriting a bubble changes its message and no other', async () => {
  const before = await messagesOf(typed('Fix it'), used('sh', { status: 'running' }))
  const after = await messagesOf(typed('Fix it'), used('sh', { status: 'completed', result: '"ok"' }), said('Done.'))
  assert.equal(after[0], before[0])
  assert.equal([after[1]!.externalId, after[1]!.order, after[1]!.parts.length], ['b-2', 2, 2])
  assert.equal([before[1]!.externalId, before[1]!.order, before[1]!.parts.length], ['b-2', 2, 1])
})

test('numbers stay exact, and binary content is not sent (rule 8)', async () => {
  const data = 'QUFB'.repeat(1_000)
  const found = await partsOf(
    used('a', {
      rawArgs: '{"n":12345678901234567890,"__proto__":1}',
      status: 'completed',
      result: '{"n":12345678901234567890}',
    }),
    used('b', {
      rawArgs: `{"url":"data:image/png;base64,${data}"}`,
      result: `{"images":[{"data":"${data}","mimeType":"image/png"}]}`,
    }),
    typed('see', { images: [{ data }], context: { fileSelections: [{ content: data }] } }),
  )
  const json = JSON.stringify(found)
  assert.not.match(json, /QUFB/)
  assert.match(json, '"args":{"n":12345678901234567890,"__proto__":1}')
  assert.match(json, String.raw`"output":"{\"n\":12345678901234567890}"`)
  assert.match(json, '"args":{"url":"[image image/png 4 kB]"}')
  assert.match(json, String.raw`"output":"{\"images\":[\"[image image/png 4 kB]\"]}"`)
})

test('a session of an earlier version has its bubbles and tools in its row (rules 3 and 5)', async () => {
  const { messages } = await read(({ row, bubble }) => {
    row('composerData:c-1', {
      composerId: 'c-1',
      conversation: [
        { bubbleId: 'b-1', type: 1, text: 'Fix it' },
        { bubbleId: 'b-2', type: 2, text: '', capabilityType: 15 },
        { bubbleId: 'b-3', type: 2, text: 'short' },
        { type: 2, text: 'without an id' },
      ],
      capabilities: [
        { type: 14, data: { bubbleDataMap: 'broken' } },
        {
          type: 15,
          data: { bubbleDataMap: JSON.stringify({ 'b-2': { tool: 1, name: 'ls', params: '{}', result: '"a.ts"' } }) },
        },
      ],
    })
    bubble('c-1', 'b-3', {
      type: 2,
      text: '',
      thinking: { text: 'Think.' },
      timingInfo: { clientStartTime: 1_754_311_716_540.25 },
    })
  })
  assert.equal(
    messages.map(({ role, timestamp, parts }) => [role, timestamp, parts.map(({ type }) => type).join()]),
    [
      ['user', undefined, 'text'],
      ['assistant', undefined, 'tool_call,tool_result'],
      ['assistant', 1_754_311_716_540, 'thinking,text'],
      ['assistant', undefined, 'text'],
    ],
  )
  assert.equal(messages[1]!.parts[0]!.content, { callId: 'b-2', toolName: 'ls', args: {} })
  assert.match(messages[3]!.externalId, /^line-/)
})

test('times relative to other times of the bubble are made absolute', async () => {
  const end = Date.UTC(2026, 1, 1)
  const times = (timingInfo: Stored) => said('x', { timingInfo })
  const found = await messagesOf(
    times({ clientStartTime: 1_234.5, clientSettleTime: end }),
    times({ clientStartTime: 1_234.5 }),
    said('x', { createdAt: 'never' }),
  )
  assert.equal(
    found.map(({ timestamp }) => timestamp),
    [Math.round(end - 1_234.5), undefined, undefined],
  )
})

test('damaged rows are skipped and reported (rule 9)', async () => {
  const { messages, malformed, session } = await read(({ composer, bubble, row }) => {
    composer('c-1', ['b-1', 'b-2', 'b-3'])
    bubble('c-1', 'b-1', '{"type":1,')
    row('bubbleId:c-1:b-2', null)
    bubble('c-1', 'b-3', said('here'))
  })
  assert.equal([malformed, session.skippedLines, messages.length], [[1], 1, 1])
  const damaged = await read(({ row }) => row('composerData:c-1', '{"composerId":'))
  assert.equal([damaged.malformed, damaged.messages, damaged.session.externalId], [[1], [], 'c-1'])
})

test('a tool of an MCP server keeps its server (rule 5)', async () => {
  const params = JSON.stringify({ tools: [{ name: 'search_sessions', parameters: '{}', serverName: 'tracebook' }] })
  assert.equal(
    (await partsOf(used('mcp_tracebook_search_sessions', { params, status: 'completed' }))).flatMap((part) =>
      'toolName' in part.content ? part.content.toolName : [],
    ),
    ['mcp__tracebook__search_sessions', 'mcp__tracebook__search_sessions'],
  )
})

test.run()
