import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSession } from '../../support/read-session.ts'
import { answerLine, call, line, result, text, userLine, writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('messages of a Claude Code session')
const { path, remove } = tempFolder()
test.after(remove)

const read = (...lines: string[]) => readSession(writeSession(path, 's-1.jsonl', lines))
const messages = async (...lines: string[]) => (await read(...lines)).messages
const ids = async (...lines: string[]) => (await messages(...lines)).map(({ externalId }) => externalId)
const partsOf = async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts)
const error = { type: 'assistant', isApiErrorMessage: true }
const synthetic = (content: unknown) => ({ message: { id: 'e-1', model: '<synthetic>', content } })

test('the lines of an answer are one message, even with results between them (rule 3)', async () => {
  const [first, second] = await messages(
    answerLine('a-1', 'm-1', [{ type: 'thinking', thinking: 'Look.', signature: 'secret' }, text('  \n')]),
    userLine('u-1', [result('t-0', 'x')]),
    answerLine('a-2', 'm-1', [call('t-1', 'Bash', { command: 'ls' })], { timestamp: '2026-03-01T00:00:00Z' }),
  )
  assert.equal(first, {
    externalId: 'm-1',
    role: 'assistant',
    model: 'claude-opus-4-6',
    order: 1,
    timestamp: Date.UTC(2026, 1, 1, 10),
    parts: [
      { type: 'thinking', content: { text: 'Look.' } },
      { type: 'tool_call', content: { callId: 't-1', toolName: 'Bash', args: { command: 'ls' } } },
    ],
  })
  assert.is(second?.order, 2)
})

test('an answer is yielded at its last line, not at the end of the file', async () => {
  const lines = [answerLine('a-1', 'm-1', [text('a')]), userLine('u-1', 'b'), answerLine('a-2', 'm-1', [text('c')])]
  const { session } = await read(...lines, userLine('u-2', 'd'))
  const order = (await Array.fromAsync(session.messages())).map(({ externalId }) => externalId)
  assert.equal(order, ['u-1', 'm-1', 'u-2'])
})

test('an answer of only whitespace is skipped (rule 3)', async () => {
  assert.equal(await ids(answerLine('a-1', 'm-1', [text(' \n')])), [])
})

test('an API error is an error part without a model; other synthetic answers are skipped (rule 4)', async () => {
  const found = await messages(
    line({ ...error, uuid: 'a-1', ...synthetic([text('API Error: 500'), text('again')]) }),
    line({ type: 'assistant', uuid: 'a-2', ...synthetic([text('No response requested.')]) }),
  )
  assert.equal(found.length, 1)
  assert.not('model' in found[0]!)
  assert.equal(found[0]?.parts, [{ type: 'error', content: { message: 'API Error: 500\nagain' } }])
})

test('isMeta lines are skipped (rule 5)', async () => {
  assert.equal(await ids(userLine('u-1', 'hidden', { isMeta: true }), userLine('u-2', 'seen')), ['u-2'])
})

test('the summary of a compaction is a system message with its text unfiltered (rule 5)', async () => {
  const [found] = await messages(userLine('u-1', '<system-reminder>all', { isCompactSummary: true }))
  assert.is(found?.role, 'system')
  assert.equal(found?.parts, [{ type: 'text', content: { text: '<system-reminder>all' } }])
})

test('tool results have the name of their tool, and are errors only when is_error is true (rule 5)', async () => {
  const [, ...found] = await partsOf(
    answerLine('a-1', 'm-1', [call('t-1', 'Read')]),
    userLine('u-1', [
      result('t-1', 'no', { is_error: true }),
      result('t-1', 'yes', { is_error: 'true' }),
      result('t-9', '?'),
    ]),
  )
  const short = found.map((part) => part.type === 'tool_result' && [part.content.toolName, part.content.status])
  assert.equal(short, [['Read', 'error'], ['Read', 'success'], ['unknown', 'success']]) // prettier-ignore
})

test('images are not sent: they are replaced with text, also inside results (rule 5)', async () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(415_032) } }
  const reference = { type: 'tool_reference', tool_name: 'Grep' }
  const found = await partsOf(
    userLine('u-1', [image, result('t-1', [text('seen'), image, reference]), { type: 'document' }]),
  )
  assert.equal(
    found.map((part) =>
      part.type === 'text' ? part.content.text : part.type === 'tool_result' && part.content.output,
    ),
    ['[image image/png 415 kB]', 'seen\n[image image/png 415 kB]\n[tool_reference Grep]', '[document]'],
  )
})

test('compactions and API errors are system messages, other system lines are skipped (rule 6)', async () => {
  const system = (uuid: string, subtype: string, more = {}) => line({ type: 'system', uuid, subtype, ...more })
  const found = await messages(
    system('s-1', 'compact_boundary', { content: 'Conversation compacted' }),
    system('s-2', 'api_error', { error: {}, retryAttempt: 1, maxRetries: 10 }),
    system('s-3', 'api_error', { error: { error: { error: { message: 'overloaded' } } } }),
    system('s-4', 'turn_duration'),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.type, parts[0]?.content]),
    [
      ['system', 'text', { text: 'Conversation compacted' }],
      ['system', 'error', { message: 'API error (retry 1 of 10)' }],
      ['system', 'error', { message: 'overloaded' }],
    ],
  )
})

test('progress, snapshots, queue operations and unknown types are skipped (rule 7)', async () => {
  const types = [
    'progress',
    'file-history-snapshot',
    'queue-operation',
    'summary',
    'pr-link',
    'mode',
    'tool_use',
    'new',
  ]
  assert.equal(await ids(...types.map((type, i) => line({ type, uuid: `x-${i}`, message: { content: 'x' } }))), [])
})

test('a queued prompt is a user message, filtered like any other (rule 7)', async () => {
  const queued = (prompt: unknown) => line({ type: 'attachment', attachment: { type: 'queued_command', prompt } })
  const found = await messages(queued('do this too'), queued([text('and this')]), queued('<system-reminder>x'))
  assert.equal(
    found.map(({ role, parts }) => [role, parts[0]?.content]),
    [
      ['user', { text: 'do this too' }],
      ['user', { text: 'and this' }],
    ],
  )
})

test('a result written before its call has the name of its tool, and is ordered after the answer with the call (rule 5)', async () => {
  const found = await messages(
    userLine('u-1', 'go'),
    userLine('u-2', [result('t-1', 'eins')]),
    userLine('u-3', [result('t-2', 'zwei')]),
    answerLine('a-1', 'm-1', [text('Look')]),
    answerLine('a-2', 'm-1', [call('t-1', 'Bash'), call('t-2', 'Read')]),
    userLine('u-4', [result('t-9', 'of no call')]),
    userLine('u-5', 'end'),
  )
  assert.equal(
    found.map(({ externalId, order, parts }) => [externalId, order, parts.map(({ type }) => type).join()]),
    [
      ['u-1', 1, 'text'],
      ['m-1', 4, 'text,tool_call,tool_call'],
      ['u-2', 4.5, 'tool_result'],
      ['u-3', 4.5, 'tool_result'],
      ['u-4', 6, 'tool_result'],
      ['u-5', 7, 'text'],
    ],
  )
  const names = found.flatMap(({ parts }) => parts.map((part) => part.type === 'tool_result' && part.content.toolName))
  assert.equal(
    names.filter((name) => name !== false),
    ['Bash', 'Read', 'unknown'],
  )
})

test('a result between the lines of its answer stays where it is (rule 5)', async () => {
  const found = await messages(
    answerLine('a-1', 'm-1', [text('Look')]),
    userLine('u-1', [result('t-1', 'eins')]),
    answerLine('a-2', 'm-1', [call('t-1', 'Bash')]),
  )
  assert.equal(
    found.map(({ externalId, order }) => [externalId, order]),
    [
      ['m-1', 1],
      ['u-1', 2],
    ],
  )
  assert.is(found[1]!.parts[0]?.type === 'tool_result' && found[1]!.parts[0].content.toolName, 'Bash')
})

test('the command for a compaction stands before what it caused (rule 6)', async () => {
  const boundary = (uuid: string, trigger: string) =>
    line({
      type: 'system',
      subtype: 'compact_boundary',
      uuid,
      content: 'Conversation compacted',
      compactMetadata: { trigger },
    })
  const command = (uuid: string) =>
    userLine(uuid, '<command-name>/compact</command-name>\n<command-args>keep the names</command-args>')
  const found = await messages(
    boundary('b-0', 'auto'),
    command('u-0'),
    boundary('b-1', 'manual'),
    userLine('u-1', 'In short: …', { isCompactSummary: true }),
    command('u-2'),
    userLine('u-3', 'go on'),
    command('u-4'),
  )
  assert.equal(
    found.toSorted((a, b) => a.order - b.order).map(({ externalId }) => externalId),
    ['b-0', 'u-0', 'u-2', 'b-1', 'u-1', 'u-3', 'u-4'],
  )
})

test.run()
