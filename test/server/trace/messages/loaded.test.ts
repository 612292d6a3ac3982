import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { upsertMessages } from '../../../../src/server/trace/messages/decide.ts'
import { traces } from '../../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../../src/server/trace/state.ts'
import { LoadedMessages, type MessageHead } from '../../../../src/server/trace/messages/loaded.ts'
import { toUpsert } from '../../../../src/server/trace/messages/message.ts'

const test = suite('trace/messages/loaded')

const known = (ordinal: number, digest = `digest ${ordinal}`, count = 2): MessageHead => ({
  ordinal,
  role: 'user',
  parts: { count, length: 10, kinds: ['text'], digest },
  class: 'user_message',
  tools: [],
  createdAt: 1,
  updatedAt: 1,
})
const digests = (count = 2) => Array.from({ length: count }, (_, i) => `digest ${i}`)

/** So many messages `m0`, `m1`, … as events write them. */
const written = (count: number, parts = 2) => {
  const messages = new LoadedMessages()
  for (let i = 0; i < count; i++) messages.write(`m${i}`, known(i), digests(parts))
  return messages
}

const withDigests = (messages: LoadedMessages, count: number) =>
  Array.from({ length: count }, (_, i) => i).filter((i) => messages.digestsOf(`m${i}`))

test('a message that was not looked up is unknown', () => {
  const messages = new LoadedMessages(2)
  assert.is(messages.find('a'), 'unknown')
  messages.set('a', known(0))
  assert.equal(messages.find('a'), known(0))
  assert.is(messages.find('b'), 'unknown')
})

test('a message that a look-up did not find does not exist, until it is written', () => {
  const messages = new LoadedMessages(1)
  messages.set('a', 'none')
  assert.is(messages.find('a'), 'none')
  messages.write('a', known(1), digests())
  assert.equal(messages.find('a'), known(1))
})

test('once all messages of a trace are loaded, any other does not exist', () => {
  assert.is(new LoadedMessages().find('a'), 'none')
  assert.is(written(3).find('a'), 'none')
  const messages = new LoadedMessages(2)
  messages.set('a', known(0))
  messages.write('c', known(2), undefined)
  assert.is(messages.find('b'), 'unknown', 'the trace has three by now')
  messages.set('b', known(1))
  assert.is(messages.find('d'), 'none')
})

test('a draft has all messages, and is written to without a change of the others, until they take it over', () => {
  const messages = new LoadedMessages(4)
  messages.write('a', known(0), digests())
  messages.set('b', 'none')
  const draft = messages.draft()
  draft.write('a', known(0, 'other'), digests(1))
  draft.write('b', known(4), digests())
  assert.equal(
    ['a', 'b', 'c'].map((id) => draft.find(id)),
    [known(0, 'other'), known(4), 'unknown'],
  )
  assert.equal(
    ['a', 'b', 'c'].map((id) => messages.find(id)),
    [known(0), 'none', 'unknown'],
  )
  assert.equal([messages.digestsOf('a'), draft.digestsOf('a')], [digests(), digests(1)])
  draft.write('a', known(0, 'third'), undefined)
  assert.equal(messages.draft().digestsOf('a'), digests())
  assert.is(draft.commit(), messages)
  assert.equal(
    ['a', 'b', 'c'].map((id) => messages.find(id)),
    [known(0, 'third'), known(4), 'unknown'],
  )
  assert.equal(messages.digestsOf('a'), digests(1))
  assert.is(messages.commit(), messages, 'what is no draft')
})

test('digests are lacking if the parts differ and too few digests are loaded', () => {
  const messages = new LoadedMessages(2)
  messages.set('a', known(0))
  assert.not(messages.lacksDigests('a', { count: 3, digest: 'digest 0' }))
  assert.ok(messages.lacksDigests('a', { count: 1, digest: 'another' }))
  assert.not(messages.lacksDigests('a', { count: 0, digest: '' }), 'all parts go')
  assert.not(messages.lacksDigests('b', { count: 1, digest: 'another' }), 'there is nothing to compare with')
  messages.setDigests('a', digests(1))
  assert.not(messages.lacksDigests('a', { count: 1, digest: 'another' }))
  assert.ok(messages.lacksDigests('a', { count: 2, digest: 'another' }))
  messages.setDigests('a', digests(2))
  assert.not(messages.lacksDigests('a', { count: 5, digest: 'another' }))
})

test('a message that is forgotten is unknown', () => {
  const messages = written(2)
  messages.forget('m0')
  assert.is(messages.find('m0'), 'unknown')
})

test('messages that are loaded later are added', () => {
  const messages = new LoadedMessages(3)
  messages.set('a', known(0))
  const later = new LoadedMessages(3)
  later.set('b', known(1))
  later.setDigests('b', digests())
  later.set('c', 'none')
  messages.add(later)
  assert.equal([messages.find('a'), messages.find('b'), messages.find('c')], [known(0), known(1), 'none'])
  assert.equal(messages.digestsOf('b'), digests())
})

test('trimming keeps the newest digests', () => {
  const [short, long] = [written(200, 3), written(20, 200)]
  for (const messages of [short, long]) messages.trim()
  assert.equal(
    withDigests(short, 200),
    Array.from({ length: 128 }, (_, i) => 72 + i),
  )
  assert.equal(withDigests(long, 20), [18, 19])
})

test('trimming keeps the newest of many messages, and a change makes a message the newest', () => {
  const messages = written(4_001)
  messages.write('m0', known(0, 'changed'), digests())
  messages.trim()
  assert.equal(messages.find('m0'), known(0, 'changed'))
  assert.is(messages.find('m1'), 'unknown')
  assert.equal(messages.find('m4000'), known(4_000))
  assert.is(messages.find('m2001'), 'unknown')
  assert.equal(messages.find('m2002'), known(2_002))
})

test('the estimated size follows what is added and removed', () => {
  const messages = written(4_001)
  const before = messages.bytes
  messages.write('m7', known(7), digests())
  assert.is(messages.bytes, before)
  messages.trim()
  assert.ok(messages.bytes < before / 2)
  const light = messages.bytes
  messages.setDigests('m4000', digests(500))
  assert.ok(messages.bytes >= light + 15_000)
})

test('a trace value does not change while later commands change its loaded messages', () => {
  const fields = { externalId: 'x', namespaceId: 'n', createdBy: 'u', agentId: 'a', visibility: 'private' } as const
  const write = (state: TraceState, name: string) =>
    upsertMessages({ userId: 'u', role: 'member' }, [toUpsert(name, { role: 'user' })])(state, 1, 1).events.reduce(
      (before, event) => traces.evolve(before, event, { at: 1 }),
      state,
    )
  const first = write(traces.evolve(traces.initial(), { type: 'TraceCreated', data: fields }, { at: 1 }), 'a')
  const answered = first.trace
  const told = structuredClone(answered)
  const second = write(first, 'b')
  assert.equal(answered, told)
  assert.is(second.messages, first.messages, 'not copied, however many there are')
})

test('adding loaded messages removes no digests', () => {
  for (const [here, loaded] of [
    [4, 1],
    [1, 4],
  ] as const) {
    const [messages, more] = [written(1, here), written(1, loaded)]
    messages.add(more)
    assert.equal(messages.digestsOf('m0'), digests(4))
  }
})

test.run()
