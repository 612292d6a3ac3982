import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { copilotCli } from '../../../src/client/agents/copilot-cli/index.ts'
import { cursor } from '../../../src/client/agents/cursor/index.ts'
import { geminiCli } from '../../../src/client/agents/gemini-cli/index.ts'
import * as gemini from './gemini-cli/records.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import * as entries from '../support/pi-file.ts'
import { qwenCode } from '../../../src/client/agents/qwen-code/index.ts'
import * as qwen from '../support/qwen-file.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import * as copilot from '../support/copilot-file.ts'
import * as rollout from '../support/codex-file.ts'
import { cutsOf, inParts, readFrom, type ReadOnce, together } from '../support/added-lines.ts'
import { answerLine, call, line, result, text, userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'
import { runs } from '../../support/runs.ts'

const test = suite('added lines go on from the reading before them')
const { path: folder, remove } = tempFolder()
test.after(remove)

/** `late` are lines that change what is long before them: of most agents readings that meet them start over. */
type Fixture = {
  readonly agent: Agent
  readonly name: string
  readonly lines: readonly string[]
  readonly late: readonly string[]
}

const plain = line({ type: 'user', message: { content: 'same' } })

const fixtures: Fixture[] = [
  {
    agent: claudeCode,
    name: 's-1.jsonl',
    lines: [
      line({ type: 'summary', summary: 'Another session', leafUuid: 'none' }),
      line({ type: 'summary', summary: 'This one', leafUuid: 'a-2' }),
      userLine('u-1', 'Grüße 🙂\u2028'),
      answerLine('a-1', 'm-1', [text('Look'), call('t-1', 'Bash'), call('t-2', 'Read')]),
      userLine('u-2', [result('t-1', 'eins')]),
      answerLine('a-2', 'm-1', [call('t-3', 'Grep')]),
      userLine('u-2', 'a replay'),
      '',
      'no JSON',
      userLine('u-3', [result('t-3', 'drei'), result('t-2', 'zwei')]),
      plain,
      plain,
      answerLine('a-3', 'm-2', [
        { type: 'tool_use', name: 'nameless' },
        { type: 'tool_use', name: 'second' },
      ]),
      line({ type: 'system', uuid: 'y-1', subtype: 'api_error', error: 'late' }),
      answerLine('a-4', 'm-2', [text('and')], { message: { id: 'm-2', content: [text('and')] } }),
      userLine('u-4', [{ type: 'tool_result', content: 'first' }], { gitBranch: 'other' }),
      userLine('u-5', [{ type: 'tool_result', content: 'second' }]),
      line({ type: 'ai-title', aiTitle: 'A title' }),
      userLine('u-6', 'end', { sessionId: 's-2' }),
      userLine('u-8', [result('t-8', 'before its call')]),
      userLine('u-9', [result('t-9', 'and this one')]),
      answerLine('a-8', 'm-8', [call('t-8', 'Bash'), call('t-9', 'Read')]),
      userLine('u-10', [result('t-10', 'of no call yet')]),
    ],
    late: [
      ...['m-3', 'm-4', 'm-5', 'm-6', 'm-7'].map((id) => answerLine(`a-${id}`, id, [text(id)])),
      answerLine('a-6', 'm-1', [text('a late line of the first answer')]),
      userLine('u-7', [result('t-1', 'again')]),
      answerLine('a-10', 'm-10', [call('t-10', 'Grep')]),
    ],
  },
]

fixtures.push({
  agent: claudeCode,
  name: 'named-otherwise.jsonl',
  lines: [userLine('u-1', 'hello'), userLine('u-2', 'again'), answerLine('a-1', 'm-1', [text('hi')])],
  late: [1, 2, 3, 4].map((index) => userLine(`v-${index}`, 'of another session', { sessionId: 's-2' })),
})

const forked = rollout.uuidAt('2026-02-01T10:00:00.000Z')
const codexLines = [
  rollout.turn(rollout.uuidAt('2026-02-01T10:00:01.000Z')),
  rollout.prompt('Grüße 🙂'),
  rollout.call({ id: 'i-1' }),
  rollout.output('eins', { id: 'i-2' }),
  rollout.answer('same'),
  rollout.answer('same'),
  rollout.call({ call_id: 'c-2', name: 'other' }),
  rollout.call({ call_id: 'c-2', name: 'another' }),
  '{"broken',
  rollout.turn(undefined, 'gpt-6'),
  rollout.event('error', { message: 'Fehler' }),
  rollout.output('zwei', { call_id: 'c-2' }),
  rollout.answer('last', { id: 'i-1' }),
  rollout.usageRecord('r-1', 10, 7),
  rollout.tokenCount(10, 7, 17),
  rollout.line('compacted', { message: 'shorter' }),
  rollout.event('sub_agent_activity', { agent_path: '/root/a', agent_thread_id: 's-2' }),
  rollout.call({ call_id: 'c-3', name: 'exec_command' }),
  rollout.event('exec_command_end', { call_id: 'c-3', exit_code: 1 }),
  rollout.output('drei', { call_id: 'c-3' }),
  rollout.item({ type: 'agent_message', author: '/root/a', recipient: '/root', content: 'done' }),
  rollout.event('thread_name_updated', { thread_name: 'A name' }),
  rollout.prompt('end'),
]

/** A failure that is told after the result, and turns that are taken back. */
const codexLate = [
  rollout.output('once more'),
  rollout.event('patch_apply_end', { call_id: 'c-2', success: false }),
  rollout.prompt('taken back'),
  rollout.answer('in vain'),
  rollout.event('thread_rolled_back', { num_turns: 1 }),
  rollout.prompt('instead'),
  rollout.event('thread_rolled_back', { num_turns: 2 }),
  rollout.prompt('at last'),
]

fixtures.push(
  {
    agent: codex,
    name: 'rollout-s.jsonl',
    lines: [rollout.meta('s-1', { git: { branch: 'main', commit_hash: '0a1b' } }), ...codexLines],
    late: codexLate,
  },
  {
    agent: codex,
    name: 'rollout-fork.jsonl',
    lines: [
      rollout.meta(forked, { forked_from_id: 's-1' }),
      rollout.turn(rollout.uuidAt('2026-02-01T09:00:00.000Z')),
      rollout.prompt('of the parent', { id: 'i-1' }),
      rollout.prompt('own'),
      ...codexLines,
    ],
    late: codexLate,
  },
)

fixtures.push({
  agent: copilotCli,
  name: join('session-state', 's-0', 'events.jsonl'),
  lines: [
    copilot.start(),
    copilot.event('e-0', 'session.model_change', { newModel: 'gpt-5' }),
    copilot.prompt('e-1', 'Grüße 🙂'),
    copilot.event('e-2', 'assistant.reasoning', { content: 'same thought' }),
    copilot.answer('e-3', 'hm', { reasoningText: 'same thought', toolRequests: [copilot.request()] }),
    copilot.event('e-4', 'tool.execution_start', { toolCallId: 'c-2', toolName: 'read' }),
    copilot.complete('e-5'),
    copilot.complete('e-5'),
    copilot.prompt('e-1', 'another with the same id'),
    'no event',
    copilot.event(undefined, 'assistant.message', { content: 'same', toolRequests: [{ name: 'nameless' }] }),
    copilot.event(undefined, 'assistant.message', { content: 'same', toolRequests: [{ name: 'nameless' }] }),
    copilot.event('e-6', 'session.context_changed', { cwd: '/w/other', branch: 'side' }),
    copilot.complete('e-7', { toolCallId: 'c-2', result: { content: 'zwei' } }),
    copilot.answer('e-8', 'then', { reasoningText: 'same thought', model: 'opus' }),
    copilot.complete('e-9', { toolCallId: undefined }),
    copilot.event('e-10', 'session.error', { message: 'Fehler' }),
    copilot.prompt('e-11', 'end'),
  ],
  late: [copilot.complete('e-12')],
})

const spoken = (role: string, ...content: readonly object[]) => JSON.stringify({ role, message: { content } })
const used = (id?: string, name = 'Shell') => ({ type: 'tool_use', id, name, input: {} })

fixtures.push({
  agent: cursor,
  name: join('agent-transcripts', 's-1', 's-1.jsonl'),
  lines: [
    spoken('user', text('<user_query>Grüße 🙂</user_query>')),
    spoken('assistant', text('Look'), used(), used(undefined, 'Read')),
    spoken('user', result('none', 'eins')),
    spoken('user', text('go on')),
    '{"role":"turn_ended"}',
    spoken('assistant', used('t-1', 'Grep'), used()),
    spoken('user', text('go on')),
    '[]',
    spoken('user', result('t-1', 'drei'), result('none', 'zwei')),
    spoken('user', text('go on')),
    spoken('user', result('none', 'vier'), result('none', 'fünf')),
    spoken('assistant', text('end')),
  ],
  late: [spoken('user', result('t-1', 'again'))],
})

fixtures.push({
  agent: geminiCli,
  name: join('chats', 'session-s-1.jsonl'),
  lines: [
    gemini.metadata({ messages: [JSON.parse(gemini.typed('m-0', 'from the start'))] }),
    gemini.typed('m-1', 'Grüße 🙂'),
    gemini.answer('m-2', '', { toolCalls: [gemini.call('c-1', 'ls')] }),
    gemini.answer('m-2', '', { toolCalls: [gemini.call('c-1', 'ls', { result: [{ text: 'eins' }] })] }),
    gemini.set({ lastUpdated: 'later' }),
    gemini.record('m-3', 'error', 'Fehler'),
    gemini.typed('m-1', 'Grüße 🙂'),
    '"no record"',
    gemini.answer('m-4', 'then', { model: 'gemini-4' }),
    gemini.record('m-5', 'info', 'note'),
    gemini.record('m-5', 'info', 'note, changed'),
    gemini.set({ summary: 'A title' }),
    gemini.typed('m-6', 'end'),
  ],
  late: [
    gemini.answer('m-4', 'another model', { model: 'gemini-3-pro' }),
    gemini.rewindTo('m-5'),
    ...Array.from({ length: 20 }, (_, index) => gemini.record(`n-${index}`, 'info', `note ${index}`)),
    gemini.typed('m-5', 'again after it was taken away'),
    gemini.answer('m-2', 'long after'),
    gemini.set({ messages: [JSON.parse(gemini.typed('m-1', 'alone'))] }),
  ],
})

fixtures.push({
  agent: pi,
  name: 'time_s-0.jsonl',
  lines: [
    entries.header(),
    entries.entry('e-1', null, entries.user('Grüße 🙂')),
    entries.entry(
      'e-2',
      'e-1',
      entries.assistant([text('Look'), entries.call({}), entries.call({ id: 'c-2', name: 'read' })]),
    ),
    entries.entry('e-3', 'e-2', entries.result({})),
    entries.entry(undefined, undefined, entries.user('same')),
    entries.entry(undefined, undefined, entries.user('same')),
    '{"type":',
    entries.entry('e-4', undefined, { type: 'session_info', name: 'A title' }),
    entries.entry('e-5', 'not there', entries.result({ toolCallId: 'c-2' })),
    entries.entry('e-6', 'e-5', entries.assistant([entries.call({ id: undefined })], { model: 'sonnet' })),
    entries.entry('e-7', 'e-6', entries.result({ toolCallId: undefined })),
    entries.entry('e-8', 'e-7', entries.assistant([text('end')], { model: 'sonnet' })),
  ],
  late: [
    entries.entry('e-9', 'e-8', entries.result({})),
    entries.entry('e-10', 'e-2', entries.user('another branch')),
    entries.entry('e-11', 'e-10', entries.assistant([text('there')])),
    entries.entry('e-3', 'e-11', entries.user('a repetition')),
    entries.entry('e-12', undefined, entries.user('on')),
    entries.entry('e-13', null, entries.user('another root')),
    entries.entry('e-14', 'e-12', entries.user('back')),
  ],
})

fixtures.push({
  agent: qwenCode,
  name: join('chats', 's-1.jsonl'),
  lines: [
    qwen.typed('u-1', null, 'Grüße 🙂'),
    qwen.system('s-1', 'u-1', 'ui_telemetry', { uiEvent: { 'event.name': 'qwen-code.api_response' } }),
    qwen.answer('a-1', 's-1', [qwen.text('Look'), qwen.call('c-1'), qwen.call(undefined, 'read_file')]),
    qwen.result('r-1', 'a-1', { output: 'eins' }),
    qwen.record('r-2', 'r-1', 'tool_result', {
      message: { parts: [{ functionResponse: { response: { error: 'zwei' } } }] },
    }),
    qwen.answer(undefined, 'lost', [qwen.text('same')]),
    qwen.answer(undefined, 'lost', [qwen.text('same')]),
    '{"uuid":',
    qwen.system('s-2', 'lost', 'slash_command', { phase: 'invocation', rawCommand: '/review', sentToModel: true }),
    qwen.typed('u-2', 's-2', 'Review all of it.', { cwd: '/w/other', gitBranch: 'side' }),
    qwen.answer('a-2', 'u-2', [qwen.text('then')], { model: 'other' }),
    qwen.system('t-1', 'a-2', 'custom_title', { customTitle: 'A title' }),
    qwen.typed('u-3', 'a-2', 'end'),
  ],
  late: [
    qwen.result('r-3', 'u-3', { output: 'drei' }),
    qwen.system('s-3', 'a-1', 'rewind', {}),
    qwen.typed('u-4', 's-3', 'another branch'),
    qwen.typed('r-1', 'u-4', 'a repetition'),
    qwen.answer('a-3', 'lost', [qwen.text('on')]),
    qwen.typed('u-5', null, 'another root'),
    qwen.typed('u-6', 'a-3', 'back'),
  ],
})

/** Asserts of a last line that becomes another one, no JSON, that the lines before it are read as if it had never been there. */
const assertTorn = async (agent: Agent, name: string, lines: readonly string[], last: string): Promise<void> => {
  const path = join(folder, agent.id, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
  let known: ReadOnce | undefined
  for (const added of [bytesOf(lines), last, ' torn\n']) {
    appendFileSync(path, added)
    const next = await readFrom(agent, path, known?.live)
    known = known ? together(known, next) : next
  }
  const whole = await readFrom(agent, path)
  assert.equal(
    [...whole.messages.keys()].map((id) => known?.messages.get(id)),
    [...whole.messages.values()],
  )
}

const bytesOf = (lines: readonly string[]) => Buffer.from(lines.map((one) => `${one}\n`).join(''))

/** The agents whose added lines only add messages, or write messages again. */
const ALWAYS_GO_ON: readonly Agent[] = [copilotCli, cursor]

for (const { agent, name, lines, late } of fixtures) {
  const path = join(folder, agent.id, name)
  mkdirSync(dirname(path), { recursive: true })
  const isEnd = (content: Buffer) => (cut: number) => content[cut - 1] === 10

  test(`${agent.name}, ${name}: a file cut at any place is read in two parts`, async () => {
    const content = bytesOf(lines)
    const { assertSame, count } = await inParts(agent, path, content)
    for (const cut of cutsOf(content)) if (cut < content.length) await assertSame(cut)
    assert.ok(count.continued > count.readings * 0.5, JSON.stringify(count))
  })

  test(`${agent.name}, ${name}: a file is read in many parts`, async () => {
    const content = bytesOf([...lines, ...late])
    const { assertSame } = await inParts(agent, path, content)
    await assertSame(...cutsOf(content))
    await assertSame(...cutsOf(content).filter(isEnd(content)))
  })

  test(`${agent.name}, ${name}: lines in any order, some repeated, are read in two parts, cut at any place`, () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...lines, ...late), { maxLength: 20 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
        async (some, numbers) => {
          const content = bytesOf([...lines.slice(0, 1), ...some])
          const { assertSame } = await inParts(agent, path, content)
          await assertSame(...numbers.map((number) => number % (content.length + 1)).sort((a, b) => a - b))
        },
      ),
      { numRuns: runs(10) },
    ))

  test(`${agent.name}, ${name}: a line that refers to a much earlier line makes the reading start over`, async () => {
    const content = bytesOf([...lines, ...late, ...lines])
    const { assertSame, count } = await inParts(agent, path, content)
    for (const cut of cutsOf(content).filter(isEnd(content))) await assertSame(cut)
    assert.is(count.continued < count.readings, !ALWAYS_GO_ON.includes(agent), JSON.stringify(count))
  })
}

for (const [size, before, after] of [
  ['as long as before', 'the end', 'an end!'],
  ['shorter than before', 'the end', 'end'],
  ['longer than before', 'the end', 'an end, and more'],
] as const)
  test(`a session that was overwritten in its middle, and is ${size}, is read whole`, async () => {
    const path = join(folder, claudeCode.id, 's-over.jsonl')
    const textWith = (middle: string, end: string) =>
      bytesOf([
        ...Array.from({ length: 40 }, (_, i) =>
          userLine(`u-${i}`, `${i === 20 ? middle : 'same'} ${'x'.repeat(1_000)}`),
        ),
        answerLine('a-1', 'm-1', [text(end)]),
      ])
    writeFileSync(path, textWith('once', before))
    const { live } = await readFrom(claudeCode, path)
    writeFileSync(path, textWith('then', after))
    const again = await readFrom(claudeCode, path, live)
    assert.not(again.isContinued)
    assert.match(JSON.stringify(again.messages.get('u-20')), 'then')
  })

test('an incomplete line that begins a branch of pi removes no message', async () => {
  const branch = entries.entry('e-3', 'e-1', entries.user('another branch'))
  await assertTorn(
    pi,
    'time_torn.jsonl',
    [entries.entry('e-1', null, entries.user('one')), entries.entry('e-2', 'e-1', entries.user('two'))],
    branch,
  )
})

test('an incomplete line with a rewritten message or a rewind of Gemini CLI changes nothing', async () => {
  const lines = [gemini.metadata(), gemini.typed('m-1', 'one'), gemini.answer('m-2', 'two')]
  for (const last of [gemini.answer('m-2', 'three'), gemini.rewindTo('m-2'), gemini.set({ messages: [] })])
    await assertTorn(geminiCli, join('chats', 'session-torn.jsonl'), lines, last)
})

test('an incomplete line of a long answer of Claude Code adds nothing', async () => {
  const lines = [answerLine('a-1', 'm-1', [text('one')]), userLine('u-1', 'x'.repeat(300_000))]
  await assertTorn(claudeCode, 's-torn.jsonl', lines, answerLine('a-2', 'm-1', [text('two')]))
})

test.run()
