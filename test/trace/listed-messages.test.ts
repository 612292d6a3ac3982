import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ListedMessages, isUnchanged } from '../../src/trace/listed-messages.ts'

const test = suite('trace: whether a message is still what it was')

/** A snapshot at revision 9, whose last events, at time 100, have written messages 3 and 4. */
const listed: ListedMessages = {
  ordinals: Int32Array.of(0, 1, 2, 3, 4),
  revision: 9n,
  at: 100n,
  newest: new Map([
    [3, 'c'],
    [4, 'd'],
  ]),
}
const message = { ordinal: 3, digest: 'c', updated_at: 100n, revision: 12n }

test('one that was written before is, whatever happened to others', () => {
  assert.ok(isUnchanged(listed, { ...message, ordinal: 1, digest: 'x', updated_at: 99n }))
  assert.ok(isUnchanged(listed, message))
})

test('one that was written later is not, in the same millisecond neither', () => {
  assert.not(isUnchanged(listed, { ...message, updated_at: 101n }))
  assert.not(isUnchanged(listed, { ...message, digest: 'y' }))
  assert.not(isUnchanged(listed, { ...message, ordinal: 1 }))
})

test('of read models that have gone back nothing is known', () => {
  assert.not(isUnchanged(listed, { ...message, updated_at: 50n, revision: 8n }))
})

test.run()
