import { appendFileSync, rmSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'
import { newAgentOfParts } from '../support/several-files.ts'

const test = suite<{ world: ClientWorld }>('a session in several files')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const idsIn = ({ server }: ClientWorld) => server.traces.map(({ messages }) => [...messages.keys()])
const sentIn = ({ server }: ClientWorld) =>
  server.requests
    .filter(({ path }) => path.endsWith('/batch'))
    .flatMap(({ text }) => (JSON.parse(text) as { messages: { externalId: string }[] }).messages)
    .map(({ externalId }) => externalId)

test('is one trace, and of what was added to any of its files only that is sent', async ({ world }) => {
  const { agents, reads } = newAgentOfParts(world.sessions)
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'first')])
  const second = writeSession(world.sessions, 's-1.2.jsonl', [userLine('u-2', 'second')])
  const { summary } = await world.sync({ agents })
  assert.equal([summary.synced, idsIn(world)], [1, [['u-1', 'u-2']]])
  assert.is((await world.sync({ agents })).summary.unchanged, 1)
  assert.is(reads(), 1, 'an unchanged one is not read')
  appendFileSync(second, `${userLine('u-3', 'third')}\n`)
  world.server.requests.length = 0
  await world.sync({ agents })
  writeSession(world.sessions, 's-1.3.jsonl', [userLine('u-4', 'fourth')])
  await world.sync({ agents })
  assert.equal([reads(), sentIn(world)], [3, ['u-3', 'u-4']])
})

test('loses nothing when one of its files is gone, and goes on in the others', async ({ world }) => {
  const { agents } = newAgentOfParts(world.sessions)
  const first = writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'first')])
  const second = writeSession(world.sessions, 's-1.2.jsonl', [userLine('u-2', 'second')])
  await world.sync({ agents })
  rmSync(first)
  world.server.requests.length = 0
  appendFileSync(second, `${userLine('u-3', 'third')}\n`)
  for (const expected of ['synced', 'unchanged'] as const)
    assert.is((await world.sync({ agents })).summary[expected], 1, expected)
  assert.equal([idsIn(world), sentIn(world)], [[['u-1', 'u-2', 'u-3']], ['u-3']])
})

test.run()
