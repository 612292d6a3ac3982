import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newRecentChanges } from '../../../src/eventstore/engine/recent-changes.ts'

const test = suite('engine: recent changes')

test('a change after a snapshot is found, a change that the snapshot shows is not', () => {
  const changes = newRecentChanges<string>(10)
  changes.note(3n, 'a')
  changes.note(5n, 'b')
  const since = (position: bigint, name: string) => changes.since(position, (changed) => changed === name)
  assert.is(since(2n, 'a'), 'changed')
  assert.is(since(3n, 'a'), 'unchanged')
  assert.is(since(3n, 'b'), 'changed')
  assert.is(since(2n, 'c'), 'unchanged')
})

test('for a snapshot older than the changes remembered the answer is unknown', () => {
  const changes = newRecentChanges<number>(2)
  for (let position = 1; position <= 5; position++) changes.note(BigInt(position), position)
  const since = (position: bigint) => changes.since(position, () => false)
  assert.is(since(2n), 'unknown')
  assert.is(since(3n), 'unchanged')
})

test.run()
