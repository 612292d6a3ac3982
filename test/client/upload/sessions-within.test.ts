import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSession } from '../support/read-session.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { refusal } from '../support/service-world.ts'
import { answerLine, call, line, result, text, userLine, writeSession } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite<{ world: ClientWorld }>('sub-agents within the file of their session')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

/** A line of a sub-agent that follows another one. */
const side = (parentUuid: string | null) => ({ isSidechain: true, parentUuid })
const task = (id: string, prompt: string) => call(id, 'Task', { description: 'look', prompt })

/** Two sub-agents with their lines between each other's, and two beginnings of which no call tells. */
const lines = [
  userLine('u-1', 'review it with helpers'),
  answerLine('a-1', 'm-1', [text('Two at once.'), task('t-1', 'read a.ts')]),
  answerLine('a-2', 'm-1', [task('t-2', 'read b.ts')]),
  userLine('b-1', [text('read b.ts')], side(null)),
  userLine('a-1-1', 'read a.ts', side(null)),
  answerLine('b-2', 'm-b', [text('I read b.'), call('c-b', 'Read')], side('b-1')),
  answerLine('a-1-2', 'm-a', [text('I have read a.')], side('a-1-1')),
  userLine('b-3', [result('c-b', 'text of b')], side('b-2')),
  line({ type: 'new-kind', uuid: 'b-4', ...side('b-3') }),
  userLine('w-1', 'Warmup', side(null)),
  answerLine('w-2', 'm-w', [text('Ready.')], side('w-1')),
  userLine('u-2', [result('t-1', 'a is fine'), result('t-2', 'b is fine')]),
]
const ids = ['s-1', 's-1-agent-b-1', 's-1-agent-a-1-1']
const traceOf = ({ server }: ClientWorld, id: string) => server.traces.find(({ externalId }) => externalId === id)
const messagesIn = (world: ClientWorld, id: string) => [...(traceOf(world, id)?.messages.keys() ?? [])]

test('each is a trace of its own, which the call in the session has started (rule 2)', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { summary, events } = await world.sync()
  assert.equal([summary.synced, summary.failed, summary.exitCode], [3, 0, 0])
  assert.equal(
    ids.map((id) => messagesIn(world, id)),
    [
      ['u-1', 'm-1', 'u-2'],
      ['b-1', 'm-b', 'b-3'],
      ['a-1-1', 'm-a'],
    ],
  )
  const relations = ids.map((id) => {
    const { title, parentExternalId, parentCallId, parentKind } = traceOf(world, id)!.fields
    return [title, parentExternalId, parentCallId, parentKind]
  })
  assert.equal(relations, [
    ['review it with helpers', undefined, undefined, undefined],
    ['read b.ts', 's-1', 't-2', undefined],
    ['read a.ts', 's-1', 't-1', undefined],
  ])
  const leftOut = events.flatMap((event) =>
    event.type === 'problem' && event.kind === 'kinds_left_out' ? [[event.parts, event.kinds]] : [],
  )
  assert.equal(leftOut, [
    [2, ['sub-agent-within-the-session']],
    [1, ['new-kind']],
  ])
  assert.equal(await world.writesOf(), [])
})

test('they grow with the file, and one that could not be sent is sent by the next run', async ({ world }) => {
  const path = writeSession(world.sessions, 's-1.jsonl', lines.slice(0, 6))
  world.server.fault = ({ path: asked }) => (asked.includes('agent-b-1') ? refusal(400) : undefined)
  assert.equal((await world.sync()).summary.exitCode, 1)
  assert.equal(
    ids.map((id) => messagesIn(world, id).length),
    [2, 0, 1],
  )
  world.server.fault = () => undefined
  assert.equal((await world.sync()).summary.exitCode, 0)
  assert.equal(messagesIn(world, ids[1]!), ['b-1', 'm-b'])
  appendFileSync(
    path,
    lines
      .slice(6)
      .map((one) => `${one}\n`)
      .join(''),
  )
  await world.sync()
  assert.equal(
    ids.map((id) => messagesIn(world, id).length),
    [3, 3, 2],
  )
  assert.equal(await world.writesOf(), [])
})

test('a session that is not sent has none that are, and a dry run sends none', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { summary } = await world.sync({ dryRun: true })
  assert.equal([summary.synced, world.server.traces.length], [3, 0])
  const excluded = await world.sync({ destinations: () => async () => ({ notSent: 'by a rule' }) })
  assert.equal([excluded.summary.excluded, world.server.traces.length], [1, 0])
})

test('in parts, as a watch reads them, they are the same', async () => {
  const { path, remove } = tempFolder()
  const file = writeSession(path, 's-1.jsonl', lines)
  const { session } = await readSession(file)
  const inline = await session.within![0]!.read({ onMalformed: () => {} })
  assert.equal([inline.externalId, inline.trace.projectPath, inline.skippedLines], ['s-1-agent-b-1', '/w/app', 0])
  const fork = lines.map((one) => one.replaceAll('"s-1"', '"s-2"'))
  const { session: other } = await readSession(writeSession(path, 's-2.jsonl', fork))
  const copy = await other.within![0]!.read({ onMalformed: () => {} })
  assert.equal([copy.externalId, copy.trace.parentExternalId], ['s-2-agent-b-1', 's-2'], 'a fork has its own')
  const { session: subAgent } = await readSession(writeSession(path, 'agent-1.jsonl', lines))
  assert.is(subAgent.within, undefined, join(path, 'agent-1.jsonl'))
  remove()
})

test.run()
