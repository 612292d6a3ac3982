import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { assistant, call, entry, header, reader, result, text, user } from '../../support/pi-file.ts'
import { tempFolder } from '../../support/temp.ts'

const test = suite('messages of a pi session')
const { path, remove } = tempFolder()
test.after(remove)
const { messages, parts } = reader(path)

/** Messages of entries that follow each other. */
const ofEntries = (...fields: readonly Readonly<Record<string, unknown>>[]) =>
  messages(header(), ...fields.map((each, index) => entry(`e-${index}`, undefined, each)))
const partsOf = async (...fields: readonly Readonly<Record<string, unknown>>[]) =>
  (await ofEntries(...fields)).flatMap((message) => message.parts)

test('an answer has its text, thinking and calls in their order, without signatures (rule 4)', async () => {
  const [found] = await ofEntries(
    assistant([
      { type: 'thinking', thinking: 'Look', thinkingSignature: 'secret' },
      { type: 'thinking', thinking: '', thinkingSignature: 'secret', redacted: true },
      text(' \n'),
      call({ arguments: { command: 'ls' }, partialJson: 'secret', thoughtSignature: 'secret' }),
      text('Done'),
      { type: 'new', text: 'x' },
    ]),
  )
  assert.equal(found, {
    externalId: 'e-0',
    role: 'assistant',
    model: 'opus',
    order: 2,
    timestamp: Date.UTC(2026, 1, 1, 10),
    parts: [
      { type: 'thinking', content: { text: 'Look' } },
      { type: 'tool_call', content: { callId: 'c-1', toolName: 'bash', args: { command: 'ls' } } },
      { type: 'text', content: { text: 'Done' } },
    ],
  })
})

test('an answer that failed or was aborted ends with an error, also when it is empty (rule 4)', async () => {
  const found = await partsOf(
    assistant([text('half')], { stopReason: 'aborted', errorMessage: 'Request was aborted' }),
    assistant([], { stopReason: 'error' }),
    assistant([]),
    assistant([text('cut')], { stopReason: 'length' }),
  )
  assert.equal(
    found.map(({ type, content }) => [type, Object.values(content)[0]]),
    [
      ['text', 'half'],
      ['error', 'Request was aborted'],
      ['error', 'error'],
      ['text', 'cut'],
    ],
  )
})

test('content given as a string is one text part', async () => {
  assert.equal(await partsOf({ message: { role: 'user', content: 'typed' } }, assistant('said')), [
    { type: 'text', content: { text: 'typed' } },
    { type: 'text', content: { text: 'said' } },
  ])
})

test('a skill before a prompt is replaced with the command that loaded it (rule 3)', async () => {
  const skill = '<skill name="review" location="/s/SKILL.md">\nReferences are relative to /s.\n\n# Review\n</skill>'
  const prompts = [[text(`${skill}\n\nthe parser`)], [text(skill)], `see ${skill}`]
  const found = await partsOf(...prompts.map((content) => ({ type: 'message', message: { role: 'user', content } })))
  assert.equal(
    found.map(({ content }) => Object.values(content)[0]),
    ['/skill:review the parser', '/skill:review', `see ${skill}`],
  )
})

test('results have the user role, and are errors only when isError is true (rule 5)', async () => {
  const found = await ofEntries(
    assistant([call({}), call({ id: undefined, name: 'read' })]),
    result({ toolName: 'bash' }),
    result({ isError: true }),
    result({ isError: 'true', toolCallId: undefined }),
    result({ toolCallId: 'lost', content: null }),
  )
  assert.equal(
    found.slice(1).map(({ role, parts }) => [role, parts.length, parts[0]?.content]),
    [
      ['user', 1, { callId: 'c-1', toolName: 'bash', output: 'ok', status: 'success' }],
      ['user', 1, { callId: 'c-1', toolName: 'bash', output: 'ok', status: 'error' }],
      ['user', 1, { callId: 'e-0-call-2', toolName: 'read', output: 'ok', status: 'success' }],
      ['user', 1, { callId: 'lost', toolName: 'unknown', output: '', status: 'success' }],
    ],
  )
})

test('arguments of any type are converted to an object, and keep exact numbers', async () => {
  const argsOf = async (args: unknown) => {
    const [part] = await partsOf(assistant([call({ arguments: args })]))
    return part?.type === 'tool_call' ? part.content.args : undefined
  }
  assert.equal(await argsOf({ a: 1 }), { a: 1 })
  assert.equal(await argsOf('{"a":1}'), { a: 1 })
  assert.equal(await argsOf('{"a":'), { input: '{"a":' })
  assert.equal(await argsOf(undefined), {})
  const exact = '{"n":12345678901234567890,"__proto__":{"x":1}}'
  const [part] = await parts(entry('a', null, assistant([call({ arguments: 'EXACT' })])).replace('"EXACT"', exact))
  assert.is(part?.type === 'tool_call' && JSON.stringify(part.content.args), exact)
})

test('images are not sent: they are replaced with text, also inside results (rule 5)', async () => {
  const image = { type: 'image', data: 'A'.repeat(415_032), mimeType: 'image/png' }
  const found = await partsOf(
    { message: { role: 'user', content: [text('see'), image, { type: 'image' }] } },
    result({ content: [text('seen'), image] }),
  )
  assert.equal(
    found.map((part) =>
      part.type === 'text' ? part.content.text : part.type === 'tool_result' && part.content.output,
    ),
    ['see', '[image image/png 415 kB]', '[image]', 'seen\n[image image/png 415 kB]'],
  )
})

test('a command run by the user is one text part (rule 5)', async () => {
  const bash = (more: object) => ({ message: { role: 'bashExecution', exitCode: 0, ...more } })
  const found = await ofEntries(
    bash({ command: 'ls', output: 'a.ts\n' }),
    bash({ command: 'true', output: '' }),
    bash({}),
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts]),
    [
      ['system', [{ type: 'text', content: { text: '! ls\na.ts\n' } }]],
      ['system', [{ type: 'text', content: { text: '! true' } }]],
    ],
  )
})

test('compactions and summaries of branches are system messages (rules 3 and 6)', async () => {
  const found = await ofEntries(
    { type: 'compaction', summary: 'one', details: { readFiles: ['x'] } },
    { type: 'branch_summary', summary: 'two' },
    { message: { role: 'compactionSummary', summary: 'three' } },
    { message: { role: 'branchSummary', summary: 'four' } },
    { type: 'compaction', summary: ' ' },
  )
  assert.equal(
    found.map(({ role, parts }) => [role, parts]),
    ['one', 'two', 'three', 'four'].map((summary) => ['system', [{ type: 'text', content: { text: summary } }]]),
  )
})

test('changes, labels, entries of extensions and unknown types are skipped (rule 7)', async () => {
  const types = ['model_change', 'thinking_level_change', 'custom', 'custom_message', 'label', 'session_info', 'new']
  const message = { role: 'user', content: 'x' }
  assert.equal(await ofEntries(...types.map((type) => ({ type, content: 'x', summary: 'x', message }))), [])
  assert.equal(await ofEntries({ message: { role: 'custom', content: 'x' } }, { message: null }, user(' \n')), [])
})

test('an entry without a time has the time of its message', async () => {
  const [first, second] = await ofEntries(
    { timestamp: 'x', message: { role: 'user', content: 'x', timestamp: 1_700_000_000_000 } },
    { timestamp: undefined, message: { role: 'user', content: 'x', timestamp: '2026' } },
  )
  assert.is(first?.timestamp, 1_700_000_000_000)
  assert.not('timestamp' in second!)
})

test('an id that the service would reject is replaced (rule 8)', async () => {
  const found = await messages(
    header(),
    entry('..', null, user('a')),
    entry('', '..', user('b')),
    entry('ok', '', user('c')),
  )
  for (const { externalId } of found.slice(0, 2)) assert.match(externalId, /^line-/)
  assert.equal([found.length, found[2]?.externalId], [3, 'ok'])
})

test.run()
