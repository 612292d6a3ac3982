import { appendFileSync, utimesSync, writeFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { answerLine, call, result, text, userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('sync')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const first = [userLine('u-1', 'hello'), answerLine('a-1', 'm-1', [text('hi')])]
const batch = 'POST /v1/traces/s-1/messages/batch'

test('a first sync creates a private trace and sends its messages, in this order', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', first)
  const { summary } = await world.sync()
  assert.equal(world.server.writes(), ['PUT /v1/traces/s-1?unlessDeleted=true', batch])
  const [trace] = world.server.traces
  assert.equal(trace?.fields, {
    visibility: 'private',
    agentId: 'claude-code',
    title: 'hello',
    projectPath: '/w/app',
    projectName: 'app',
    model: 'claude-opus-4-6',
    gitBranch: 'main',
  })
  assert.equal([...trace!.messages.keys()], ['u-1', 'm-1'])
  assert.equal([summary.synced, summary.messages, summary.new, summary.exitCode], [1, 2, 2, 0])
})

test('a message is sent without a text of its own, because its parts have the text', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  const timestamp = Date.UTC(2026, 1, 1, 10)
  const parts = [{ type: 'text', content: { text: 'hello' } }]
  assert.equal(world.server.traces[0]?.messages.get('u-1'), {
    externalId: 'u-1',
    role: 'user',
    order: 1,
    timestamp,
    parts,
  })
})

test('a second sync of unchanged sessions writes nothing', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  assert.equal(await world.writesOf(), [])
  assert.is((await world.sync()).summary.unchanged, 1)
})

test('an unchanged file is not even opened, a touched one is read and only changes are sent', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  utimesSync(path, 1, 1)
  assert.equal(await world.writesOf(), [])
  writeFileSync(path, first.map((one) => `${one.replace('hello', 'HELLO')}\n`).join(''))
  utimesSync(path, 1, 1)
  const before = (await world.sync()).summary
  assert.is(before.unchanged, 1, 'same inode, size and time')
  utimesSync(path, 1, 1.000001)
  assert.is((await world.sync()).summary.updated, 1, 'a microsecond later')
})

test('only the new and the changed messages of a file that grew are sent', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  appendFileSync(
    path,
    `${answerLine('a-2', 'm-1', [call('t-1', 'Bash')])}\n${userLine('u-2', [result('t-1', 'ok')])}\n`,
  )
  world.server.requests.length = 0
  const { summary } = await world.sync()
  assert.equal(world.server.writes(), [batch])
  assert.equal([summary.messages, summary.new, summary.updated], [2, 1, 1])
  const parts = world.server.traces[0]?.messages.get('m-1')?.parts
  assert.equal(
    parts?.map(({ type }) => type),
    ['text', 'tool_call'],
  )
})

test('if only the title has changed, only this field of the trace is sent', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  appendFileSync(path, `${JSON.stringify({ type: 'custom-title', customTitle: 'Mine' })}\n`)
  assert.equal(await world.writesOf(), ['PATCH /v1/traces/s-1'])
  assert.is(world.server.requests.at(-1)?.text, '{"title":"Mine"}')
})

test('a dry run writes nothing, neither to the server nor to the state, and reports what would be sent', async ({
  world,
}) => {
  writeSession(world.sessions, 's-1.jsonl', first)
  const files = world.configFiles().length
  const { summary } = await world.sync({ dryRun: true })
  assert.equal([summary.synced, summary.messages, summary.new], [1, 2, 2])
  assert.equal(world.server.writes(), [])
  assert.is(world.configFiles().length, files)
})

test('with --force everything is sent again', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  assert.equal(await world.writesOf({ force: true }), ['PATCH /v1/traces/s-1', batch])
})

test('a session has separate records for each namespace', async ({ world }) => {
  world.server.addNamespace('team', { [world.user.userId]: 'member' })
  writeSession(world.sessions, 's-1.jsonl', first)
  await world.sync()
  await world.sync({ slug: 'team' })
  assert.is(world.server.traces.length, 2)
  assert.equal(
    world.server.traces.map(({ messages }) => messages.size),
    [2, 2],
  )
  assert.equal(await world.writesOf({ slug: 'team' }), [])
})

test.run()
