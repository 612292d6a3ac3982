import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HttpError } from '../../../src/server/http/http-error.ts'
import { readBatch, readMessage } from '../../../src/server/trace/messages/body.ts'

const test = suite('http: issues of a body')

/** The issues of a refused body, by member. */
const issuesOf = (read: () => unknown) => {
  try {
    read()
  } catch (error) {
    if (error instanceof HttpError) return (error.details as { fieldErrors: Record<string, string[]> }).fieldErrors
  }
  throw new Error('it was taken')
}

const ofBatch = (...messages: unknown[]) => issuesOf(() => readBatch({ messages })).messages!

test('an issue of a batch names the message, by index and externalId, and the place in it', () => {
  const good = { externalId: 'good', role: 'user' }
  const [role, type] = ofBatch(good, { externalId: 'm-1', role: 'robot' }, good, {
    externalId: 'm-3',
    role: 'user',
    parts: [{ type: 'text', content: { text: '' } }, { type: 'none' }],
  })
  assert.match(role!, /^messages\[1\]\.role: .+ \(externalId "m-1"\)$/)
  assert.match(type!, /^messages\[3\]\.parts\[1\].*: .+ \(externalId "m-3"\)$/)
})

test('a message without a valid externalId is named by its index', () => {
  assert.match(ofBatch({ role: 'user' })[0]!, /^messages\[0\]\.externalId: [^(]+$/)
  assert.match(ofBatch(null)[0]!, /^messages\[0\]: [^(]+$/)
  assert.match(ofBatch({ externalId: 'x'.repeat(5_000), role: 'user' })[0]!, /\(externalId "x{100}…"\)$/)
})

test('a message with too many parts is named, too', () => {
  const parts = Array.from({ length: 2_001 }, () => ({ type: 'thinking' }))
  const issues = ofBatch({ externalId: 'a', role: 'user' }, { externalId: 'b', role: 'user', parts })
  assert.equal(issues, ['messages[1].parts: at most 2000 parts in a message, but it has 2001 (externalId "b")'])
})

test('an issue within a member has its place, an issue of the member itself has none', () => {
  const { role, parts } = issuesOf(() => readMessage({ role: 'robot', parts: [{ type: 'none' }] }))
  assert.not.match(role![0]!, 'role')
  assert.match(parts![0]!, /^parts\[0\].*: /)
})

test.run()
