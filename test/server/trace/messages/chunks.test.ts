import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isUnchanged } from '../../../../src/server/trace/messages/chunks.ts'

const test = suite('trace: whether a message is still what it was')

const since = 9n

test('a message that was written before is unchanged, whatever happened to others', () => {
  assert.ok(isUnchanged(since, { revision: 4n, trace_revision: 12n }))
  assert.ok(isUnchanged(since, { revision: 9n, trace_revision: 9n }))
})

test('a message that was written later may have changed', () => {
  assert.not(isUnchanged(since, { revision: 10n, trace_revision: 12n }))
})

test('any message may have changed if the read models have gone back', () => {
  assert.not(isUnchanged(since, { revision: 4n, trace_revision: 8n }))
})

test.run()
