import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { opencode } from '../../../../src/client/agents/opencode/index.ts'
import { readSession } from '../../support/read-session.ts'
import { tempFolder } from '../../support/temp.ts'
import { answerInfo, opencodeDatabase, text, tool, userInfo } from './database-file.ts'

const test = suite('messages of an opencode session')
const { path: root, remove } = tempFolder()
test.after(remove)

let databases = 0
type Writer = ReturnType<typeof opencodeDatabase>

/** What is read of a session that `write` fills. */
const read = async (write: (database: Writer) => void) => {
  const path = join(root, `opencode-${++databases}.db`)
  const database = opencodeDatabase(path)
  database.session('ses_1')
  write(database)
  const found = await readSession(path, opencode)
  database.close()
  return found
}

/** The parts of an answer with these stored parts. */
const partsOf = async (...stored: readonly (Readonly<Record<string, unknown>> | string)[]) => {
  const { messages } = await read(({ message, part }) => {
    message('ses_1', 'msg_1', answerInfo)
    stored.forEach((one, index) => part('ses_1', 'msg_1', `prt_${String(index).padStart(6, '0')}`, one))
  })
  return messages.flatMap(({ parts }) => parts)
}

test('an answer has its parts in the order of their ids, and each result after its call (rules 4 to 7)', async () => {
  const { messages } = await read(({ message, part }) => {
    message('ses_1', 'msg_2', answerInfo)
    message('ses_1', 'msg_1', userInfo)
    part('ses_1', 'msg_2', 'prt_4', text('Done.'))
    part('ses_1', 'msg_2', 'prt_2', { type: 'reasoning', text: 'Look.', time: { start: 1_000, end: 3_500.4 } })
    part(
      'ses_1',
      'msg_2',
      'prt_3',
      tool('call_1', 'bash', { status: 'completed', output: 'a.ts', metadata: { exit: 0 } }),
    )
    part('ses_1', 'msg_1', 'prt_1', text('Fix it'))
  })
  assert.equal(messages, [
    {
      externalId: 'msg_2',
      role: 'assistant',
      model: 'claude-sonnet',
      order: 1,
      timestamp: 1_790_000_000_002,
      parts: [
        { type: 'thinking', content: { text: 'Look.', durationMs: 2_500 } },
        { type: 'tool_call', content: { callId: 'call_1', toolName: 'bash', args: { command: 'ls' } } },
        { type: 'tool_result', content: { callId: 'call_1', toolName: 'bash', output: 'a.ts', status: 'success' } },
        { type: 'text', content: { text: 'Done.' } },
      ],
    },
    {
      externalId: 'msg_1',
      role: 'user',
      order: 2,
      timestamp: 1_790_000_000_004,
      parts: [{ type: 'text', content: { text: 'Fix it' } }],
    },
  ])
})

test('rewriting a part changes its message and no other (rule 7)', async () => {
  const states = [{ status: 'pending', raw: '' }, { status: 'running' }, { status: 'completed', output: 'ok' }]
  const reads = []
  for (const state of states)
    reads.push(
      await read(({ message, part }) => {
        message('ses_1', 'msg_1', userInfo)
        part('ses_1', 'msg_1', 'prt_1', text('Fix it'))
        message('ses_1', 'msg_2', answerInfo)
        for (const one of states.slice(0, states.indexOf(state) + 1))
          part('ses_1', 'msg_2', 'prt_2', tool('c', 'bash', one))
      }),
    )
  assert.equal(
    reads.map(({ messages }) => messages[1]?.parts.map(({ type }) => type)),
    [['tool_call'], ['tool_call'], ['tool_call', 'tool_result']],
  )
  assert.equal(
    reads.map(({ messages }) => messages.map(({ externalId, order }) => [externalId, order])),
    reads.map(() => [['msg_1', 1], ['msg_2', 2]]), // prettier-ignore
  )
})

test('an output that opencode does not send to the model any more stays as it was (rule 7)', async () => {
  const state = { status: 'completed', output: 'much text', time: { start: 1, end: 2 } }
  const pruned = { ...state, time: { ...state.time, compacted: 3 } }
  const before = await partsOf(tool('c', 'bash', state))
  assert.equal(before[1], {
    type: 'tool_result',
    content: { callId: 'c', toolName: 'bash', output: 'much text', status: 'success' },
  })
  assert.equal(await partsOf(tool('c', 'bash', pruned)), before)
})

test('errors and the exit codes of shells are failures (rule 7)', async () => {
  const results = await partsOf(
    tool('c-1', 'bash', { status: 'completed', output: 'no such file', metadata: { exit: 1 } }),
    tool('c-2', 'edit', { status: 'error', error: 'not found' }),
    tool('c-3', 'invalid', { status: 'completed', output: 'bad arguments' }),
    tool('c-4', 'bash', { status: 'success', output: 'from an old version', metadata: { exit: null } }),
    tool('c-5', 'read', { status: 'completed', output: { lines: 2 } }),
  )
  assert.equal(
    results.flatMap((part) =>
      part.type === 'tool_result' ? [[part.content.callId, part.content.output, part.content.status]] : [],
    ),
    [
      ['c-1', 'no such file', 'error'],
      ['c-2', 'not found', 'error'],
      ['c-3', 'bad arguments', 'error'],
      ['c-4', 'from an old version', 'success'],
      ['c-5', '{"lines":2}', 'success'],
    ],
  )
})

test('text generated by opencode, steps, snapshots and unknown types are skipped (rule 6)', async () => {
  const skipped = ['step-start', 'step-finish', 'snapshot', 'patch', 'agent', 'compaction', 'of-tomorrow']
  const found = await partsOf(
    text('mine'),
    text('synthetic', { synthetic: true }),
    text('ignored', { ignored: true }),
    text(' \n'),
    ...skipped.map((type) => ({ type, text: 'x', snapshot: 'abc' })),
    { type: 'subtask', prompt: 'Search', description: 'search', agent: 'explore' },
    { type: 'retry', attempt: 1, error: { name: 'APIError', data: { message: 'overloaded' } } },
  )
  assert.equal(found, [
    { type: 'text', content: { text: 'mine' } },
    { type: 'text', content: { text: 'Search' } },
    { type: 'error', content: { message: 'overloaded' } },
  ])
})

test('an answer’s error is a part, a summary is a system message, and an empty answer is skipped (rule 5)', async () => {
  const { messages } = await read(({ message, part }) => {
    const error = { name: 'MessageAbortedError', data: { message: 'The operation was aborted.' } }
    message('ses_1', 'msg_1', { ...answerInfo, error })
    message('ses_1', 'msg_2', { ...answerInfo, summary: true })
    part('ses_1', 'msg_2', 'prt_1', text('So far'))
    message('ses_1', 'msg_3', answerInfo)
    message('ses_1', 'msg_4', { ...answerInfo, role: 'tool' })
    part('ses_1', 'msg_4', 'prt_2', text('unknown role'))
    message('ses_1', 'msg_5', { ...answerInfo, error: { name: 'UnknownError' } })
  })
  assert.equal(
    messages.map(({ role, model, order, parts }) => [role, model, order, parts[0]?.content]),
    [
      ['assistant', 'claude-sonnet', 1, { message: 'The operation was aborted.' }],
      ['system', undefined, 2, { text: 'So far' }],
      ['assistant', 'claude-sonnet', 5, { message: 'UnknownError' }],
    ],
  )
})

test('binary content is not sent (rule 6)', async () => {
  const url = `data:image/png;base64,${'QUFB'.repeat(1_000)}`
  const found = await partsOf(
    { type: 'file', mime: 'image/png', filename: 'shot.png', url },
    { type: 'file', mime: 'text/plain', filename: 'error.log', url: 'file:///w/error.log' },
    tool('c-1', 'read', {
      status: 'completed',
      output: 'Image read',
      attachments: [{ type: 'file', mime: 'image/png', url }],
    }),
    tool('c-2', 'shot', { status: 'completed', output: url, input: { url } }),
  )
  assert.not.match(JSON.stringify(found), /QUFB/)
  assert.equal(
    found.map(({ content }) => ('text' in content ? content.text : 'output' in content ? content.output : '')),
    [
      '[image image/png 4 kB]',
      '[document text/plain error.log]',
      '',
      'Image read\n[image image/png 4 kB]',
      '',
      '[image image/png 4 kB]',
    ],
  )
})

test('whole files that opencode stores with a result are not sent', async () => {
  const metadata = { diff: '-SECRET', filediff: { before: 'SECRET', after: 'x' } }
  const found = await partsOf(tool('c-1', 'edit', { status: 'completed', output: 'ok', metadata }))
  assert.not.match(JSON.stringify(found), /SECRET/)
})

test('arguments keep exact numbers', async () => {
  const stored = JSON.stringify(tool('c-1', 'x', { status: 'pending', input: { n: 'BIG' } }))
  assert.match(
    JSON.stringify(await partsOf(stored.replace('"BIG"', '12345678901234567890'))),
    '{"n":12345678901234567890}',
  )
})

test('damaged rows are skipped and reported with the number of their message (rule 9)', async () => {
  const { messages, malformed, session } = await read(({ message, part, run }) => {
    message('ses_1', 'msg_1', '{"role":')
    message('ses_1', 'msg_2', answerInfo)
    part('ses_1', 'msg_2', 'prt_1', '[1]')
    part('ses_1', 'msg_2', 'prt_2', text('here'))
    message('ses_1', 'msg_3', { ...answerInfo, time: 'never' })
    part('ses_1', 'msg_3', 'prt_3', { type: 'tool', state: 'broken' })
    run(`UPDATE part SET time_updated = 9223372036854775807, data = CAST(data AS BLOB) WHERE id = 'prt_2'`)
  })
  assert.equal(malformed, [1, 2])
  assert.is(session.skippedLines, 2)
  assert.equal(
    messages.map(({ externalId, order, timestamp }) => [externalId, order, timestamp === undefined]),
    [
      ['msg_2', 2, false],
      ['msg_3', 3, true],
    ],
  )
  assert.equal(messages[1]?.parts, [{ type: 'tool_call', content: { callId: 'prt_3', toolName: 'unknown', args: {} } }])
})

const withRevert = (revert: object | string) =>
  read(({ session, message, part }) => {
    session('ses_1', { revert: typeof revert === 'string' ? revert : JSON.stringify(revert) })
    for (const number of [1, 2, 3]) {
      message('ses_1', `msg_${number}`, number === 2 ? { ...answerInfo, error: { name: 'Late' } } : answerInfo)
      for (const letter of ['a', 'b'])
        part('ses_1', `msg_${number}`, `prt_${number}${letter}`, text(`${number}${letter}`))
    }
  })

test('reverted content is left out, from a message or a part of it to the end (rule 8)', async () => {
  const left = async (revert: object | string) =>
    (await withRevert(revert)).messages.map(({ parts }) =>
      parts.map(({ content }) => ('text' in content ? content.text : '')).join(),
    )
  assert.equal(await left({ messageID: 'msg_2' }), ['1a,1b'])
  assert.equal(await left({ messageID: 'msg_2', partID: 'prt_2b' }), ['1a,1b', '2a'])
  assert.equal(await left({ messageID: 'msg_2', partID: 'prt_2a' }), ['1a,1b'])
  assert.equal(await left({ messageID: 'msg_9' }), ['1a,1b', '2a,2b,', '3a,3b'])
  assert.equal(await left('broken'), ['1a,1b', '2a,2b,', '3a,3b'])
})

test('a session with very many messages and parts is read in order', async () => {
  const { messages } = await read(({ message, part, database }) => {
    database.exec('BEGIN')
    for (let n = 0; n < 3_000; n++) {
      message('ses_1', `msg_${n}`, answerInfo)
      part('ses_1', `msg_${n}`, `prt_${n}`, text(`${n}`))
    }
    database.exec('COMMIT')
  })
  assert.equal(
    messages.map(({ externalId }) => externalId),
    Array.from({ length: 3_000 }, (_, n) => `msg_${n}`),
  )
})

test('a tool of Tracebook keeps its server (rule 7)', async () => {
  const nameOf = async (name: string) =>
    (await partsOf(tool('c-1', name, { status: 'running' }))).map(
      (part) => part.type === 'tool_call' && part.content.toolName,
    )
  assert.equal(await nameOf('tracebook_search_sessions'), ['mcp__tracebook__search_sessions'])
  assert.equal(await nameOf('apply_patch'), ['apply_patch'])
})

test.run()
