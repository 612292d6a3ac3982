import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SyncEvent } from '../../../src/client/report/events.ts'
import { type ClientWorld, newWorld } from '../support/client-world.ts'
import { userLine, writeSession } from '../support/session-file.ts'

const test = suite<{ world: ClientWorld }>('the progress of an upload')

test.before.each(async (context) => void Object.assign(context, { world: await newWorld() }))
test.after.each(({ world }) => world.close())

const progressOf = (events: readonly SyncEvent[]) => events.filter((event) => event.type === 'progress')
const sumOf = (events: readonly SyncEvent[]): number =>
  Math.round(progressOf(events).reduce((sum, { bytes }) => sum + bytes, 0))

test('the progress of a large session is reported in many steps, which add up to the size of its file', async ({
  world,
}) => {
  const lines = Array.from({ length: 3_000 }, (_, i) => userLine(`u-${i}`, `message ${i} ${'x'.repeat(1_000)}`))
  const size = lines.reduce((sum, line) => sum + line.length + 1, 0)
  writeSession(world.sessions, 's-1.jsonl', lines)
  const { events } = await world.sync()
  assert.is(sumOf(events), size)
  assert.ok(progressOf(events).filter(({ bytes }) => bytes > 0).length >= 20)
  assert.ok(progressOf(events).every(({ bytes }) => bytes < size / 10))
})

test('unchanged, empty and unreadable sessions count with their size', async ({ world }) => {
  writeSession(world.sessions, 's-1.jsonl', [userLine('u-1', 'a')])
  writeFileSync(join(world.sessions, 's-2.jsonl'), '{"cut":\n')
  const [first, again] = [await world.sync(), await world.sync()]
  assert.is(sumOf(first.events), userLine('u-1', 'a').length + 1 + 8)
  assert.is(sumOf(again.events), sumOf(first.events))
})

test.run()
