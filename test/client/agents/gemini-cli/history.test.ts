import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { geminiCli } from '../../../../src/client/agents/gemini-cli/index.ts'
import { readSession } from '../../support/read-session.ts'
import { writeSession } from '../../support/session-file.ts'
import { tempFolder } from '../../support/temp.ts'
import { answer, metadata, record, rewindTo, set, typed } from './records.ts'

const test = suite('changes to the messages of a Gemini CLI session')
const { path, remove } = tempFolder()
test.after(remove)

const read = (...lines: string[]) => readSession(writeSession(path, 's.jsonl', [metadata(), ...lines]), geminiCli)
const ids = async (...lines: string[]) => (await read(...lines)).messages.map(({ externalId }) => externalId)
const places = async (...lines: string[]) =>
  (await read(...lines)).messages.map(({ externalId, order }) => [externalId, order])
const parsed = (...lines: string[]) => lines.map((line) => JSON.parse(line) as unknown)

const [one, two, three] = [typed('m-1', 'one'), answer('m-2', 'two'), typed('m-3', 'three')]

test('a rewritten message keeps its position, and only its last version counts (rule 3)', async () => {
  const { messages } = await read(one, two, three, answer('m-2', 'two, longer'))
  assert.equal(
    messages.map(({ externalId, order, parts }) => [externalId, order, parts.length]),
    [
      ['m-1', 1, 1],
      ['m-2', 2, 1],
      ['m-3', 3, 1],
    ],
  )
  assert.equal(messages[1]?.parts, [{ type: 'text', content: { text: 'two, longer' } }])
})

test('ids and positions stay the same when the session grows or is read again', async () => {
  const before = await places(one, two)
  assert.equal(await places(one, two), before)
  assert.equal((await places(one, two, three, answer('m-2', 'again'))).slice(0, 2), before)
})

test('a rewind removes a message and all later ones; a rewind to an unknown id removes all messages (rule 2)', async () => {
  assert.equal(await ids(one, two, three, rewindTo('m-2')), ['m-1'])
  assert.equal(await ids(one, two, three, rewindTo('m-9')), [])
  assert.equal(await ids(one, two, three, rewindTo('m-9'), answer('m-4', 'new')), ['m-4'])
})

test('a message that is rewritten after a rewind is positioned where it was rewritten (rule 3)', async () => {
  assert.equal(await places(one, two, three, rewindTo('m-2'), typed('m-4', 'four'), two), [
    ['m-1', 1],
    ['m-4', 4],
    ['m-2', 5],
  ])
})

test('$set.messages adds messages, and removes none that has an id (rule 2)', async () => {
  const restated = set({ messages: parsed(two, typed('m-5', 'five')), summary: 'Sum' })
  assert.equal(await ids(one, two, three, restated, typed('m-6', 'six')), ['m-1', 'm-2', 'm-3', 'm-5', 'm-6'])
  assert.equal(await ids(one, two, set({ messages: [] })), ['m-1', 'm-2'])
  assert.equal(await ids(one, set({ lastUpdated: 'x', messages: 'none' }), two), ['m-1', 'm-2'])
})

test('only the last version of a message in a list counts, and a later line with the message replaces it (rule 3)', async () => {
  const { messages } = await read(set({ messages: parsed(one, two) }), answer('m-2', 'later'))
  assert.equal(
    messages.map(({ parts }) => parts[0]?.content),
    [{ text: 'one' }, { text: 'later' }],
  )
})

test('if a message is twice in a list, the last version counts, at the position of the first (rule 3)', async () => {
  const { messages } = await read(set({ messages: parsed(one, two, typed('m-1', 'again')) }))
  assert.equal(
    messages.map(({ externalId, order, parts }) => [externalId, order, parts[0]?.content]),
    [
      ['m-1', 1, { text: 'again' }],
      ['m-2', 2, { text: 'two' }],
    ],
  )
})

test('metadata may hold messages; other records with messages change nothing (rule 2)', async () => {
  assert.equal(await ids(one, metadata({ messages: parsed(two, three) })), ['m-1', 'm-2', 'm-3'])
  assert.equal(await ids(one, JSON.stringify({ later: 'record', messages: parsed(two) })), ['m-1'])
})

test('damaged lines are skipped and reported; an incomplete last line is not reported (rule 4)', async () => {
  const file = join(path, 's.jsonl')
  writeFileSync(file, `${[metadata(), one, '{"id":', '', '[1]', two].join('\n')}\n{"id":"m-3","ty`)
  const { session, messages, malformed } = await readSession(file, geminiCli)
  assert.equal(malformed, [3, 5])
  assert.is(session.skippedLines, 2)
  assert.equal(
    messages.map(({ externalId }) => externalId),
    ['m-1', 'm-2'],
  )
  writeFileSync(file, [metadata(), one].join('\n'))
  assert.is((await readSession(file, geminiCli)).messages.length, 1)
})

const output = (id: string, text: string) => ({
  functionResponse: { id, name: 'read_file', response: { output: text } },
})

test('a list with a message in a poorer form leaves it as it is; a call and a result count once, in either form (rule 12)', async () => {
  const rich = answer('m-2', 'Let me look.', {
    thoughts: [{ subject: 'Look', description: 'first' }],
    tokens: { input: 1, output: 1 },
    toolCalls: [{ id: 'c-1', name: 'read_file', args: {}, status: 'success', result: [output('c-1', 'a')] }],
  })
  const before = [one, rich, typed('m-3', [output('c-1', 'a')])]
  const poor = {
    ...{ id: 'm-2', type: 'gemini', timestamp: '2026-04-30T10:00:00.000Z' },
    content: [
      { text: '**Look** first', thought: true },
      { text: 'Let me look.' },
      { functionCall: { id: 'c-1', name: 'read_file', args: {} } },
    ],
  }
  const restated = set({
    messages: [
      ...parsed(one),
      poor,
      { id: 'm-2_response', type: 'user', content: [output('c-1', 'a')] },
      { id: 'm-7', type: 'gemini', content: [{ functionCall: { id: 'c-2', name: 'read_file', args: { path: 'b' } } }] },
      { id: 'm-7_response', type: 'user', content: [output('c-2', 'b')] },
      { id: 'm-8', type: 'user', content: [output('c-2', 'b')] },
    ],
  })
  const [{ messages: earlier }, { messages }] = [await read(...before), await read(...before, restated, restated)]
  assert.equal(messages.slice(0, earlier.length), earlier)
  assert.equal(
    messages
      .slice(earlier.length)
      .map(({ externalId, role, parts }) => [externalId, role, parts.map(({ type }) => type)]),
    [
      ['m-7', 'assistant', ['tool_call']],
      ['m-7_response', 'user', ['tool_result']],
    ],
  )
})

const document = (text: string) => {
  const file = join(path, 'session-1.json')
  writeFileSync(file, text)
  return readSession(file, geminiCli)
}

test('an old document gives the same messages as the records that the CLI migrates it to (rule 2)', async () => {
  const whole = { ...(JSON.parse(metadata()) as object), messages: parsed(one, two, record('m-3', 'info', 'x')) }
  const [old, migrated] = [
    await document(JSON.stringify(whole, undefined, 2)),
    await read(one, two, record('m-3', 'info', 'x')),
  ]
  assert.equal(old.messages, migrated.messages)
  assert.equal(old.session.trace, migrated.session.trace)
  assert.is(old.session.externalId, migrated.session.externalId)
})

test('a message without an id gets an id made from its content, which stays the same when the session grows (rule 8)', async () => {
  const nameless = { type: 'user', content: 'a' }
  const once = (await document(JSON.stringify({ sessionId: 's', messages: [nameless] }))).messages
  assert.match(once[0]!.externalId, /^message-/)
  const grown = (
    await document(JSON.stringify({ sessionId: 's', messages: [nameless, { type: 'user', content: 'b' }] }))
  ).messages
  assert.equal(grown[0], once[0])
  assert.is(grown.length, 2)
})

test('an id that the service would reject is replaced, and later records can still refer to it', async () => {
  const long = 'x'.repeat(2_000)
  const [found] = await ids(typed(long, 'a'))
  assert.match(found!, /^message-/)
  assert.equal(await ids(one, typed(long, 'a'), rewindTo(long)), ['m-1'])
})

test('an unparseable document is reported and gives no messages (rule 4)', async () => {
  const { malformed, messages, session } = await document('{"sessionId":"s-1","messages":[')
  assert.equal([malformed, messages, session.skippedLines], [[1], [], 1])
  const empty = await document('')
  assert.equal([empty.malformed, empty.messages], [[], []])
})

test('a document that is too large to parse fails with an error that gives the reason (rule 10)', async () => {
  const failure = await document(' '.repeat((32 << 20) + 1)).catch((error: unknown) => error)
  assert.match((failure as Error).message, /expected a JSON document of at most 32 MiB.*, got 33 MiB/)
})

test.run()
