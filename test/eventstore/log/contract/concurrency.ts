import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Appended, RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { aStream, essence, followPrefix, numbered, readPrefix } from '../support/events.ts'
import type { World } from '../support/world.ts'

const ROUNDS = 30
const PROCESSES = 2
const INSTANCES = 3
const STREAMS = 4
const EVENTS = (PROCESSES + INSTANCES) * STREAMS * ROUNDS * 2

type Acknowledged = { stream: string; id: string } & Appended

const runWorker = async ({ module, place }: World, prefix: string): Promise<Acknowledged[]> => {
  const worker = join(import.meta.dirname, '..', 'support', 'worker.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [worker, module, place, prefix, `${ROUNDS}`])
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<'stream' | 'id' | 'revision' | 'position', string>)
    .map((answer) => ({ ...answer, revision: BigInt(answer.revision), position: BigInt(answer.position) }))
}

const write = async ({ open }: World, prefix: string): Promise<Acknowledged[]> => {
  const log = open()
  const acknowledged: Acknowledged[] = []
  const writer = async () => {
    const stream = aStream(prefix)
    for (let round = 0n; round < ROUNDS; round++) {
      const events = numbered(2)
      const answer = await log.append(stream, round === 0n ? 'none' : round * 2n - 1n, events)
      acknowledged.push({ stream, id: events[1]!.id, ...answer })
    }
  }
  await Promise.all(Array.from({ length: STREAMS }, writer))
  return acknowledged
}

const assertOrdered = (events: readonly RecordedEvent[]) => {
  const revisions = new Map<string, bigint>()
  let last = 0n
  for (const { stream, revision, position } of events) {
    assert.ok(position > last, 'positions grow')
    assert.is(revision, (revisions.get(stream) ?? -1n) + 1n, 'a stream is in its own order')
    last = position
    revisions.set(stream, revision)
  }
}

export const concurrency = (test: Test<World>): void => {
  test('many processes write at once, and all live followers see the same order', async (world) => {
    const prefix = aStream()
    const after = await world.log.head()
    const follow = (log: World['log']) => followPrefix(log, prefix, { after, count: EVENTS })
    const following = Promise.all([follow(world.log), follow(world.other), follow(world.open())])
    const writing = Promise.all([
      ...Array.from({ length: PROCESSES }, () => runWorker(world, prefix)),
      ...Array.from({ length: INSTANCES }, () => write(world, prefix)),
    ])
    const acknowledged = (await writing).flat()
    const stored = await readPrefix(world.log, prefix)
    assert.is(stored.length, EVENTS)
    assertOrdered(stored)
    for (const seen of await following) assert.equal(seen.map(essence), stored.map(essence))
    const found = new Map(stored.map((event) => [event.id, event]))
    for (const { id, stream, revision, position } of acknowledged) {
      const event = found.get(id)!
      assert.equal([event.stream, event.revision, event.position], [stream, revision, position])
    }
  })
}
