import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { needOf, upsertMessages } from '../../../../src/server/trace/messages/decide.ts'
import { noCounts, traces } from '../../../../src/server/trace/decide.ts'
import type { TraceEvent } from '../../../../src/server/trace/events.ts'
import { headOfText } from '../../../../src/server/trace/messages/heads.ts'
import { LoadedMessages, type MessageHead } from '../../../../src/server/trace/messages/loaded.ts'
import { shownToolCounts } from '../../../../src/server/trace/messages/tool-counts.ts'
import { type MessageInRequest, type MessageUpsert, toUpsert } from '../../../../src/server/trace/messages/message.ts'
import type { Part } from '../../../../src/contract/message.ts'
import { NOON, foldAll } from '../../../support/given.ts'

const test = suite('trace/messages/decide')

type Data<Type> = Extract<TraceEvent, { type: Type }>['data']

const ada = { userId: 'ada', role: 'member' } as const
const origin = { externalId: 'x', namespaceId: 'n', createdBy: 'ada' }
const created: TraceEvent = { type: 'TraceCreated', data: { ...origin, agentId: 'a', visibility: 'private' } }
const LATER = NOON + 60_000

const call = (toolName: string): Part => ({ type: 'tool_call', content: { callId: 'c', toolName, args: {} } })
const said = (text: string): Part => ({ type: 'text', content: { text } })
const user = (externalId: string, textContent: string) => toUpsert(externalId, { role: 'user', textContent })
const agent = (externalId: string, ...parts: Part[]) => toUpsert(externalId, { role: 'assistant', parts })

/**
 * What a batch comes to after others: its events, and what it says of each message. A retry gives no event, unless the batch
 * has a message twice: then that of the last upserts gives none.
 */
const upserted = (before: readonly (readonly MessageUpsert[])[], batch: readonly MessageUpsert[]) => {
  const past = before.reduce<TraceEvent[]>(
    (events, upserts) => [...events, ...decided(foldAll(traces, events), upserts).events],
    [created],
  )
  const state = foldAll(traces, past)
  const { events, result: messages } = decided(state, batch)
  const again = decided(foldAll(traces, [...past, ...events]), [
    ...new Map(batch.map((one) => [one.externalId, one])).values(),
  ])
  assert.equal(again.events, [], 'a retry must emit nothing')
  return { events, messages }
}

const decided = (state: ReturnType<typeof traces.initial>, upserts: readonly MessageUpsert[]) =>
  upsertMessages(ada, upserts)(state, LATER, LATER)

const typesOf = (events: readonly TraceEvent[]) => events.map(({ type }) => type)
const resultsOf = ({ messages }: Pick<ReturnType<typeof upserted>, 'messages'>) => messages.map(({ result }) => result)
const countsOf = (events: readonly TraceEvent[]) => {
  const counted = events.filter(({ type }) => type === 'MessagesCounted')
  assert.is(counted.length, 1)
  return counted[0]!.data as Data<'MessagesCounted'>
}

test('new messages are numbered in the order of arrival, and counted once', () => {
  const { events, messages } = upserted([[user('a', '1')]], [agent('b', call('Bash')), agent('c', said('hi'))])
  assert.equal(typesOf(events), ['MessageAdded', 'MessageAdded', 'MessagesCounted'])
  assert.equal(
    messages.map(({ externalId, result, head }) => [externalId, result, head.ordinal]),
    [
      ['b', 'created', 1],
      ['c', 'created', 2],
    ],
  )
  assert.equal(countsOf(events), {
    messageCount: 3,
    messageTypeCounts: { ...noCounts.messageTypeCounts, user_message: 1, tool_call: 1, agent_text: 1 },
    toolTypeCounts: { bash: 1 },
  })
})

test('a change within a class does not change the counts', () => {
  const { events, messages } = upserted([[user('a', '1')]], [user('a', '2')])
  assert.equal(typesOf(events), ['MessageUpdated'])
  assert.equal(messages[0]!.before?.text, headOfText('1'))
  assert.equal(messages[0]!.head.text, headOfText('2'))
  assert.equal([messages[0]!.head.createdAt, messages[0]!.head.updatedAt], [NOON + 1_000, LATER])
})

test('a change of class or tools corrects the counts', () => {
  const calls = agent('a', call('Bash'), call('Bash'), call('Read'))
  const { events } = upserted([[calls, user('b', '1')]], [agent('a', call('Bash'), call('Read'), call('Read'))])
  assert.equal(countsOf(events).toolTypeCounts, { bash: 1, read: 2 })
  const spoken = upserted([[calls]], [agent('a', said('hi'))])
  assert.equal(countsOf(spoken.events), {
    messageCount: 1,
    messageTypeCounts: { ...noCounts.messageTypeCounts, agent_text: 1 },
    toolTypeCounts: {},
  })
})

test('fields that are not given stay, and parts are compared one by one', () => {
  const before = toUpsert('a', { role: 'assistant', model: 'm', order: 3, parts: [said('1'), said('2'), said('3')] })
  const { events, messages } = upserted(
    [[before]],
    [toUpsert('a', { role: 'assistant', parts: [said('1'), said('4')] })],
  )
  const { patch, parts: told } = events[0]!.data as Data<'MessageUpdated'>
  assert.equal(
    patch.map(({ op, path }) => [op, path]),
    [
      ['replace', '/parts/1'],
      ['remove', '/parts/2'],
    ],
  )
  const { model, order, parts } = messages[0]!.head
  assert.equal(told, parts)
  assert.equal([model, order, parts.count, parts.kinds], ['m', 3, 2, ['text']])
})

test('given fields that are equal to the stored ones change nothing', () => {
  const before: MessageInRequest = { role: 'user', textContent: '1', model: 'm' }
  const result = upserted([[toUpsert('a', before)]], [user('a', '1')])
  assert.equal(resultsOf(result), ['unchanged'])
  assert.equal(result.events, [])
  assert.is(result.messages[0]!.head.model, 'm')
})

test('a message that is several times in a batch is upserted several times, in order', () => {
  const { events, ...result } = upserted([], [user('a', '1'), user('a', '2'), user('a', '2'), user('b', '1')])
  assert.equal(resultsOf(result), ['created', 'updated', 'unchanged', 'created'])
  assert.equal(typesOf(events), ['MessageAdded', 'MessageUpdated', 'MessageAdded', 'MessagesCounted'])
  assert.is(countsOf(events).messageCount, 2)
})

test('the last of several upserts may restore the stored message', () => {
  const { events, ...result } = upserted([[user('a', '1')]], [user('a', '2'), user('a', '1')])
  assert.equal(resultsOf(result), ['updated', 'updated'])
  assert.equal(typesOf(events), ['MessageUpdated', 'MessageUpdated'])
})

test('a batch is refused as a whole if a message was not loaded', () => {
  const { events } = decided(foldAll(traces, [created]), [user('a', '1')])
  const { trace } = foldAll(traces, [created, ...events])
  const state = { trace, messages: new LoadedMessages(1) }
  assert.throws(() => decided(state, [user('a', '1')]), /message a was not loaded/)
})

test('digests of parts are needed if parts are given, and always if two upserts give different parts', () => {
  const [one, two, other] = [agent('a', said('1')), agent('a', said('2'), said('3')), user('b', '1')]
  assert.equal(
    [...needOf([one, other, one])],
    [
      ['a', one.heads.parts],
      ['b', undefined],
    ],
  )
  const { count, digest } = needOf([one, two]).get('a')!
  assert.is(count, 2)
  assert.not([one, two].map(({ heads }) => heads.parts!.digest).includes(digest))
})

test('an upsert is refused if the digests of the parts that it changes were not loaded', () => {
  const { events } = decided(foldAll(traces, [created]), [agent('a', said('1'), said('2'))])
  const { trace, messages } = foldAll(traces, [created, ...events])
  const head = messages.find('a') as MessageHead
  const state = { trace, messages: new LoadedMessages(1) }
  state.messages.set('a', head)
  assert.throws(() => decided(state, [agent('a', said('3'))]), /digests of the parts of a were not loaded/)
  state.messages.setDigests('a', messages.digestsOf('a')!.slice(0, 1))
  assert.equal(typesOf(decided(state, [agent('a', said('3'))]).events), ['MessageUpdated'])
  assert.equal(typesOf(decided(state, [toUpsert('a', { role: 'user' })]).events), ['MessageUpdated', 'MessagesCounted'])
})

const MOST_NAMES = 500

const callsOf = (first: number, count: number) => Array.from({ length: count }, (_, i) => call(`t${first + i}`))
const recordedIn = (events: readonly TraceEvent[]) =>
  events.flatMap((event) => (event.type === 'MessageAdded' || event.type === 'MessageUpdated' ? [event.data] : []))

/** The tool counts of the last event, as answers show them. */
const toolsShown = (events: readonly TraceEvent[]): Record<string, number> =>
  JSON.parse(shownToolCounts(JSON.stringify(countsOf(events).toolTypeCounts)))

test('a call that was counted as other is counted by its name once there is room', () => {
  const full = agent('full', ...callsOf(0, MOST_NAMES))
  const { events, messages } = upserted([[full]], [agent('late', call('late'), call('t0'))])
  assert.equal(messages[0]!.head.tools, ['late', 't0'])
  assert.equal([toolsShown(events)['other'], toolsShown(events)['late'], toolsShown(events)['t0']], [1, undefined, 2])
  const room = agent('full', ...callsOf(0, MOST_NAMES - 1))
  const before = [[full], [agent('late', call('late'))]]
  const counted = toolsShown(upserted(before, [room]).events)
  assert.equal([counted['other'], counted['late']], [undefined, 1])
  const { late } = toolsShown(upserted([...before, [room]], [agent('new', call('late'))]).events)
  assert.is(late, 2)
  const gone = toolsShown(upserted([...before, [room]], [agent('late')]).events)
  assert.equal([gone['other'], gone['late']], [undefined, undefined])
})

test('a change that keeps the tools of a message keeps the names under which they are counted', () => {
  const full = agent('full', ...callsOf(1, MOST_NAMES - 1))
  const calls = [call('own'), call('late')]
  const { events } = upserted([[full], [agent('m', ...calls)]], [agent('m', ...calls, said('hi'))])
  assert.equal(typesOf(events), ['MessageUpdated'])
  assert.equal(recordedIn(events)[0]!.tools, ['own', 'late'])
})

test('calls that an older version recorded under the names of their tools are subtracted as they were counted', () => {
  const { events } = upserted([], [agent('full', ...callsOf(0, MOST_NAMES)), agent('late', call('late'))])
  const older = events.map((event) =>
    event.type === 'MessagesCounted'
      ? { ...event, data: { ...event.data, toolTypeCounts: toolsShown(events) } }
      : event,
  )
  const state = foldAll(traces, [created, ...older])
  const changed = decided(state, [agent('late', call('late'), said('hi'))]).events
  assert.equal(recordedIn(changed)[0]!.tools, ['late'])
  assert.not(Object.hasOwn(countsOf(decided(state, [agent('late')]).events).toolTypeCounts, 'other'))
})

const write = fc.record({ externalId: fc.constantFrom('a', 'b', 'c', 'd'), first: fc.nat(650), count: fc.nat(250) })

test('the counts are always those of the names that the messages record, after any updates', () => {
  const batches = fc.array(fc.array(write, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 10 })
  const property = fc.property(batches, (writes) => {
    let state = foldAll(traces, [created])
    const recorded = new Map<string, readonly string[]>()
    for (const batch of writes) {
      const upserts = batch.map(({ externalId, first, count }) => agent(externalId, ...callsOf(first, count)))
      const { events } = decided(state, upserts)
      for (const { externalId, tools } of recordedIn(events)) recorded.set(externalId, tools)
      state = foldAll(traces, events, state)
      const expected: Record<string, number> = {}
      for (const name of [...recorded.values()].flat()) expected[name] = (expected[name] ?? 0) + 1
      assert.ok(state.trace.is === 'present')
      const { toolTypeCounts: counts } = state.trace.counts
      assert.equal(
        Object.fromEntries(Object.entries(counts).map(([key, n]) => [key.replace(/^other\//, ''), n])),
        expected,
      )
      const names = Object.keys(counts).filter((key) => !key.startsWith('other'))
      const isAnyWaiting = Object.keys(counts).some((key) => key.startsWith('other/'))
      if (isAnyWaiting) assert.is(names.length, MOST_NAMES, 'as many as there is room for')
      assert.equal(decided(state, upserts.slice(-1)).events, [], 'a retry must emit nothing')
    }
  })
  fc.assert(property, { numRuns: 60 })
})

test.run()
