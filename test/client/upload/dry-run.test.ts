import { appendFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('what a sync says of a session')

test.before.each(async (context) => void Object.assign(context, { world: await newWorld() }))
test.after.each(({ world }) => world.close())

const sessionOf = (events: readonly SyncEvent[]) => {
  const found = events.find((event) => event.type === 'session')
  const { title, project, namespace, visibility, published, messages, new: created, updated, status } = found!
  return { title, project, namespace, visibility, published, messages, new: created, updated, status }
}
const about = { title: 'first', project: 'app', namespace: 'user-1' }
const lines = ['first', 'second', 'third'].map((text, i) => userLine(`u-${i}`, text))

test('a dry run names the session, where it would go, and who could read it', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { events, summary } = await world.sync({ dryRun: true })
  const counts = { messages: 3, new: 3, updated: 0, status: 'synced' }
  assert.equal(sessionOf(events), { ...about, visibility: 'private', published: undefined, ...counts })
  assert.equal([summary.synced, summary.exitCode, world.server.writes()], [1, 0, []])
})

test('with --force a dry run does not count messages on the server as new', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', lines)
  await world.sync()
  const { events } = await world.sync({ dryRun: true, force: true })
  const found = sessionOf(events)
  assert.equal([found.messages, found.new, found.updated], [3, 0, 0])
  appendFileSync(file, `${userLine('u-9', 'fourth')}\n`)
  const grown = sessionOf((await world.sync({ dryRun: true, force: true })).events)
  assert.equal([grown.messages, grown.new], [4, 1])
})

test('a dry run reports the new messages of a grown session, and that a public trace stays public', async ({
  world,
}) => {
  const file = writeSession(world.sessions, 's-1.jsonl', lines)
  await world.sync({ visibility: 'public' })
  appendFileSync(file, `${userLine('u-9', 'fourth')}\n`)
  const found = sessionOf((await world.sync({ dryRun: true })).events)
  assert.equal([found.messages, found.new, found.visibility, found.published], [1, 1, 'public', undefined])
})

test('a session whose trace was deleted is not reported as sent', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', lines)
  await world.sync()
  world.server.traces.length = 0
  appendFileSync(file, `${userLine('u-9', 'fourth')}\n`)
  assert.is(sessionOf((await world.sync({ dryRun: true })).events).status, 'deleted')
})

test('a session that becomes public is reported once, whether it is new or unchanged', async ({ world }) => {
  const file = writeSession(world.sessions, 's-1.jsonl', lines)
  assert.is(sessionOf((await world.sync({ visibility: 'public' })).events).published, true)
  appendFileSync(file, `${userLine('u-9', 'fourth')}\n`)
  assert.is(sessionOf((await world.sync({ visibility: 'public' })).events).published, undefined)
  await world.sync({ visibility: 'private' })
  const published = sessionOf((await world.sync({ visibility: 'public' })).events)
  assert.equal([published.published, published.title, published.visibility], [true, 'first', 'public'])
})

test.run()
