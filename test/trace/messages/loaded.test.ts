import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { upsertMessages } from '../../../src/trace/messages/decide.ts'
import { type TraceState, traces } from '../../../src/trace/decide.ts'
import { type KnownMessage, LoadedMessages } from '../../../src/trace/messages/loaded.ts'
import { type MessageDocument, toUpsert } from '../../../src/trace/messages/message.ts'
import { storedPart } from '../../../src/trace/messages/part.ts'

const test = suite('trace/messages/loaded')

const known = (ordinal: number, digest = `digest ${ordinal}`): KnownMessage => ({
  ordinal,
  digest,
  class: 'user_message',
  tools: [],
  createdAt: 1,
  updatedAt: 1,
})
const document = (length = 1): MessageDocument => ({ role: 'user', textContent: 'x'.repeat(length), parts: [] })

/** So many messages `m0`, `m1`, … as events write them. */
const written = (count: number, length?: number) => {
  const messages = new LoadedMessages()
  for (let i = 0; i < count; i++) messages.write(`m${i}`, known(i), document(length))
  return messages
}

const documentsOf = (messages: LoadedMessages, count: number) =>
  Array.from({ length: count }, (_, i) => i).filter((i) => messages.documentOf(`m${i}`))

test('a message that was not looked up is unknown', () => {
  const messages = new LoadedMessages(2)
  assert.is(messages.find('a'), 'unknown')
  messages.set('a', known(0))
  assert.equal(messages.find('a'), known(0))
  assert.is(messages.find('b'), 'unknown')
})

test('one that was looked up in vain does not exist, until it is written', () => {
  const messages = new LoadedMessages(1)
  messages.set('a', 'none')
  assert.is(messages.find('a'), 'none')
  messages.write('a', known(1), document())
  assert.equal(messages.find('a'), known(1))
})

test('once as many are known as there are, there is no other', () => {
  assert.is(new LoadedMessages().find('a'), 'none')
  assert.is(written(3).find('a'), 'none')
  const messages = new LoadedMessages(2)
  messages.set('a', known(0))
  messages.write('c', known(2), undefined)
  assert.is(messages.find('b'), 'unknown', 'the trace has three by now')
  messages.set('b', known(1))
  assert.is(messages.find('d'), 'none')
})

test('a document is lacking where a digest differs and it is not loaded', () => {
  const messages = new LoadedMessages(2)
  messages.set('a', known(0))
  assert.not(messages.lacksDocument('a', 'digest 0'))
  assert.ok(messages.lacksDocument('a', 'another'))
  assert.not(messages.lacksDocument('b', 'another'), 'there is nothing to compare with')
  messages.setDocument('a', document())
  assert.not(messages.lacksDocument('a', 'another'))
})

test('an event whose document is not known leaves none that is out of date', () => {
  const messages = written(1)
  messages.write('m0', known(0, 'another'), undefined)
  assert.is(messages.documentOf('m0'), undefined)
  assert.ok(messages.lacksDocument('m0', 'digest 0'))
})

test('what was loaded later is added', () => {
  const messages = new LoadedMessages(3)
  messages.set('a', known(0))
  const later = new LoadedMessages(3)
  later.set('b', known(1))
  later.setDocument('b', document())
  later.set('c', 'none')
  messages.add(later)
  assert.equal([messages.find('a'), messages.find('b'), messages.find('c')], [known(0), known(1), 'none'])
  assert.equal(messages.documentOf('b'), document())
})

test('the newest documents are kept while they are few and short', () => {
  const [short, long] = [written(20), written(20, 10_000)]
  for (const messages of [short, long]) messages.trim()
  assert.equal(documentsOf(short, 20), [12, 13, 14, 15, 16, 17, 18, 19])
  assert.equal(documentsOf(long, 20), [17, 18, 19])
})

test('of many messages the newest stay known, and a change makes one the newest', () => {
  const messages = written(4_001)
  messages.write('m0', known(0, 'changed'), document())
  messages.trim()
  assert.equal(messages.find('m0'), known(0, 'changed'))
  assert.is(messages.find('m1'), 'unknown')
  assert.equal(messages.find('m4000'), known(4_000))
  assert.is(messages.find('m2001'), 'unknown')
  assert.equal(messages.find('m2002'), known(2_002))
})

test('the weight follows what comes and goes', () => {
  const messages = written(4_001)
  const before = messages.bytes
  messages.write('m7', known(7), document())
  assert.is(messages.bytes, before)
  messages.trim()
  assert.ok(messages.bytes < before / 2)
  const part = storedPart({ type: 'text', content: { text: 'x'.repeat(500) } })
  const light = messages.bytes
  messages.setDocument('m4000', { role: 'user', parts: [part] })
  assert.ok(messages.bytes >= light + 1_000)
})

test('a trace stays what it was while later commands change what is loaded beside it', () => {
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

test.run()
