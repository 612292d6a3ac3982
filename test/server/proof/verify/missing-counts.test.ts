import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { HashedEvent } from '../../../../src/server/proof/verify/hashed-event.ts'
import type { StoredLeaf } from '../../../../src/server/proof/verify/leaf-rows.ts'
import { newMissingCounts } from '../../../../src/server/proof/verify/missing-counts.ts'

const test = suite('proof/verify: missing events')

const stream = 'trace-t'
const leafAt = (revision: number) =>
  ({ stream, revision: BigInt(revision), index: 10 + revision, id: `${revision}` }) as StoredLeaf
const eventAt = (revision: number, more: Partial<HashedEvent>) =>
  ({ stream, revision: BigInt(revision), type: 'MessageAdded', ...more }) as HashedEvent

/** Whether an event at revision 8 explains that those at these revisions are missing. */
const isExplained = (by: Partial<HashedEvent>, ...missing: number[]): boolean => {
  const counts = newMissingCounts()
  for (const revision of missing) counts.add(leafAt(revision))
  counts.explainBy(eventAt(8, by), leafAt(8))
  return !counts.has(by.stream ?? stream)
}

test('a deletion explains why all earlier events are missing, an erased past those before its restated ones', () => {
  assert.ok(isExplained({ type: 'TraceDeleted' }, 0, 3, 7))
  assert.ok(isExplained({ type: 'HistoryErased', since: 5n }, 0, 3, 4))
  assert.not.ok(isExplained({ type: 'HistoryErased', since: 5n }, 3, 5), 'the first restated message')
  assert.not.ok(isExplained({ type: 'HistoryErased', since: 5n }, 7))
  assert.not.ok(isExplained({ type: 'HistoryErased', since: 5n }, 4, 9))
})

test('no other event explains missing ones, and none does in another kind of stream', () => {
  assert.not.ok(isExplained({ type: 'MessageAdded' }, 3))
  const counts = newMissingCounts()
  counts.add({ ...leafAt(1), stream: 'namespace-n' })
  counts.explainBy(eventAt(8, { stream: 'namespace-n', type: 'TraceDeleted' }), leafAt(8))
  assert.ok(counts.has('namespace-n'))
})

test.run()
