import { appendFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { refusal } from '../support/service-world.ts'
import { answerLine, call, line, text, userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('what a sync leaves out')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const first = [userLine('u-1', 'hello'), answerLine('a-1', 'm-1', [text('hi')])]
const nameless = [userLine('u-1', 'hello', { sessionId: undefined })]

test('a malformed line is reported with file and line, and nothing else is lost', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', [first[0]!, `${first[1]}{"cut":`, userLine('u-2', 'more')])
  const { summary, events } = await world.sync()
  const [problem] = events.filter(({ type }) => type === 'problem')
  assert.equal(problem, {
    type: 'problem',
    kind: 'line_skipped',
    file: path,
    line: 2,
    bytes: 7,
    message: 'not one JSON object: 7 bytes left out',
    title: 'hello',
  })
  assert.equal([summary.messages, summary.skippedLines, summary.skippedBytes, summary.exitCode], [3, 1, 7, 0])
  assert.is((await world.sync({ force: true, strict: true })).summary.exitCode, 1)
})

test('a session without any readable line is reported once, with its path, and read again once it grows', async ({
  world,
}) => {
  const unknown = Array.from({ length: 15 }, (_, turn) => JSON.stringify({ kind: 'turn', turn }))
  const path = writeSession(world.sessions, 's-1.jsonl', unknown)
  const { summary, events } = await world.sync()
  assert.equal(
    events.filter(({ type }) => type === 'problem'),
    [
      {
        type: 'problem',
        kind: 'none_understood',
        file: path,
        message: 'none of 15 lines understood: written by a newer agent than this version knows, or not a session?',
      },
    ],
  )
  assert.equal([summary.empty, summary.skippedLines, summary.exitCode], [1, 15, 1])
  appendFileSync(path, `${unknown[0]}\n`)
  assert.equal((await world.sync()).summary.exitCode, 0)
  appendFileSync(path, `${first[0]}\n`)
  const { summary: later, events: none } = await world.sync()
  assert.equal([later.messages, later.exitCode], [1, 0])
  assert.equal(
    none.flatMap((event) => (event.type === 'problem' ? [[event.kind, event.parts]] : [])),
    [['kinds_left_out', 16]],
  )
})

test('a damaged line is reported once: later runs succeed until another line is lost', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', [first[0]!, `${first[1]}]`])
  const told = async (options = {}) => {
    const { summary, events } = await world.sync(options)
    const lines = events.flatMap((event) => (event.type === 'problem' ? [event.line] : []))
    return [lines, summary.skippedLines, summary.exitCode]
  }
  assert.equal(await told({ dryRun: true }), [[2], 1, 0])
  assert.equal(await told({ strict: true }), [[2], 1, 1])
  appendFileSync(path, `${first[1]}\n`)
  assert.equal(await told(), [[], 0, 0])
  appendFileSync(path, '{"cut":\n')
  assert.equal(await told(), [[4], 1, 0])
  assert.equal(await told({ force: true }), [[2, 4], 2, 0])
  assert.equal(await told(), [[], 0, 0])
})

test('a refused message is reported once as well', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', [...first, userLine('bad', 'x')])
  world.server.refuses = ({ externalId }) => externalId === 'bad'
  assert.equal([(await world.sync()).summary.leftOutMessages], [1])
  appendFileSync(path, `${userLine('u-4', 'y')}\n`)
  const { summary } = await world.sync()
  assert.equal([summary.new, summary.leftOutMessages, summary.exitCode], [1, 0, 0])
})

test('a line that is still being written is not reported, and is sent when it is complete', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', [first[0]!])
  const [start, rest] = [first[1]!.slice(0, 40), first[1]!.slice(40)]
  appendFileSync(path, start)
  assert.is((await world.sync()).summary.exitCode, 0)
  appendFileSync(path, `${rest}\n`)
  const { summary } = await world.sync()
  assert.equal([summary.new, summary.exitCode], [1, 0])
})

test('a session without messages makes no trace', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [JSON.stringify({ type: 'summary', summary: 'x', leafUuid: 'y' })])
  assert.is((await world.sync()).summary.empty, 1)
  assert.equal(world.server.writes(), [])
})

test('a session that fails does not prevent others from being uploaded', async ({ world }) => {
  for (const name of ['s-0.jsonl', 's-1.jsonl', 's-2.jsonl']) writeSession(world.sessions, name, nameless)
  world.server.fault = ({ path }) => (path.includes('/s-1') ? refusal(500) : undefined)
  const { summary } = await world.sync()
  assert.equal(
    world.server.traces.map(({ externalId }) => externalId),
    ['s-0', 's-2'],
  )
  assert.equal([summary.synced, summary.failed, summary.exitCode], [2, 1, 1])
})

test('a message that the server refuses is left out, the others of its batch arrive', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [
    ...first,
    userLine('bad', 'x'),
    userLine('u-3', 'y'),
    userLine('u-4', 'z'),
  ])
  world.server.refuses = ({ externalId }) => externalId === 'bad'
  const { summary, events } = await world.sync()
  assert.equal([...world.server.traces[0]!.messages.keys()], ['u-1', 'm-1', 'u-3', 'u-4'])
  assert.equal([summary.leftOutMessages, summary.exitCode], [1, 1])
  const problem = events.find(({ type }) => type === 'problem')
  assert.ok(problem?.type === 'problem' && problem.externalId === 'bad' && problem.line === 3)
})

test('a message over the server’s limit is left out without being sent', async ({ world }) => {
  const huge = userLine('big', 'x'.repeat(16 << 20))
  writeSession(world.sessions, 's-1.jsonl', [first[0]!, huge, first[1]!])
  const { summary } = await world.sync()
  assert.equal([...world.server.traces[0]!.messages.keys()], ['u-1', 'm-1'])
  assert.equal([summary.leftOutMessages, summary.exitCode], [1, 1])
  assert.ok(world.server.requests.every(({ text }) => text.length < 1 << 20))
})

test('texts that are too long for the server are cut, which is reported once', async ({ world }) => {
  const [id, name] = ['i'.repeat(300), 'n'.repeat(300)]
  writeSession(world.sessions, 's-1.jsonl', [
    userLine('u-1', 'hello', { gitBranch: 'b'.repeat(300) }),
    JSON.stringify({ type: 'custom-title', sessionId: 's-1', customTitle: `${'𝄞'.repeat(4_095)}ab` }),
    answerLine('a-1', 'm-1', [call(id, name), call(`${id}2`, 'short')], { gitBranch: 'b'.repeat(300) }),
  ])
  const { summary, events } = await world.sync()
  assert.equal([summary.new, summary.leftOutMessages, summary.exitCode], [2, 0, 0])
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
  assert.equal(notices.sort(), [
    'gitBranch cut to 256 characters',
    'message m-1: callId cut to 256 characters',
    'message m-1: toolName cut to 256 characters',
    'title cut to 4,096 characters',
  ])
  const [trace] = world.server.traces
  assert.is([...String(trace!.fields['title'])].length, 4_096)
  const [one, two] = trace!.messages
    .get('m-1')!
    .parts.map(({ content }) => content as { callId: string; toolName: string })
  assert.is(one!.toolName, `${'n'.repeat(255)}…`)
  assert.ok(one!.callId.length <= 256 && one!.callId !== two!.callId)
  const again = await world.sync({ force: false })
  assert.equal([again.summary.unchanged, again.events.filter(({ type }) => type === 'notice').length], [1, 0])
})

test('parts of unknown kinds are counted and said once, and again only where others are added', async ({ world }) => {
  const dream = line({ type: 'dream' })
  const song = answerLine('a-2', 'm-2', [text('la'), { type: 'song' }])
  const path = writeSession(world.sessions, 's-1.jsonl', [...first, dream, dream, song])
  const { summary, events } = await world.sync()
  assert.equal(
    events.filter(({ type }) => type === 'problem'),
    [
      {
        ...{ type: 'problem', kind: 'kinds_left_out', file: path, parts: 3, kinds: ['dream', 'song'], title: 'hello' },
        message: '3 parts of unknown kinds left out: dream, song',
      },
    ],
  )
  assert.equal([summary.unknownParts, summary.exitCode], [3, 0])
  appendFileSync(path, `${dream}\n`)
  assert.is((await world.sync()).summary.unknownParts, 1)
  assert.is((await world.sync()).summary.unknownParts, 0)
})

test.run()
