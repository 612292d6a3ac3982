import { appendFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('a service with another log')
test.before.each(async (context) => void (context.world = await newWorld()))
test.after.each(({ world }) => world.close())

const write = ({ sessions }: ClientWorld, name: string) => writeSession(sessions, name, [userLine('u-1', 'hello')])
/** The service forgets all traces, as one that was started anew, but still knows its users. */
const loseData = ({ server }: ClientWorld): void => {
  server.traces.length = 0
  server.logId = 'another log'
}
const messagesOf = ({ server }: ClientWorld) => server.traces.map(({ messages }) => messages.size)

test('a service with another log receives all sessions again, also unchanged ones, and no trace is reported as deleted', async ({
  world,
}) => {
  const path = write(world, 's-1.jsonl')
  await world.sync()
  loseData(world)
  const { summary, events } = await world.sync()
  assert.equal([summary.synced, summary.deleted, summary.new], [1, 0, 1])
  assert.not.match(JSON.stringify(events), /was deleted/)
  appendFileSync(path, `${userLine('u-2', 'more')}\n`)
  assert.is((await world.sync()).summary.new, 1)
  assert.equal(messagesOf(world), [2])
  assert.is((await world.sync()).summary.unchanged, 1)
})

test('another log that appears during a run ends the run, and the next run uploads everything again', async ({
  world,
}) => {
  const path = write(world, 's-1.jsonl')
  await world.sync()
  appendFileSync(path, `${userLine('u-2', 'more')}\n`)
  world.server.fault = ({ method, path: asked }) => {
    if (method === 'GET' && asked === '/v1/traces/s-1' && world.server.traces.length > 0) loseData(world)
    return undefined
  }
  const { summary, events } = await world.sync()
  assert.equal([summary.failed, summary.deleted, summary.exitCode], [1, 0, 1])
  assert.match(summary.stopped!, /no longer has what was uploaded to it.* Run the command again/)
  assert.not.match(JSON.stringify(events), /was deleted/)
  await world.sync()
  assert.equal(messagesOf(world), [2])
})

test('a trace that was deleted is not uploaded again', async ({ world }) => {
  const path = write(world, 's-1.jsonl')
  await world.sync()
  world.server.traces.length = 0
  world.server.deleted.add('s-1')
  appendFileSync(path, `${userLine('u-2', 'more')}\n`)
  assert.is((await world.sync()).summary.deleted, 1)
  assert.is((await world.sync({ visibility: 'public' })).summary.deleted, 1)
  assert.equal(messagesOf(world), [])
})

test.run()
