import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { noCounts, remove, traces } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import { summarise } from '../../../src/server/trace/decide-summary.ts'
import { withDeletion, NO_EARLIER, earlierFields } from '../../../src/server/trace/earlier-deletions.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'

const test = suite('trace/earlier-deletions')

const owner = { externalId: 'x', namespaceId: 'n', createdBy: 'u' }
const created: TraceEvent = { type: 'TraceCreated', data: { ...owner, agentId: 'a', visibility: 'private' } }
const counted: TraceEvent = { type: 'MessagesCounted', data: { ...noCounts, messageCount: 1 } }
const writer = { userId: 'u', role: 'admin' } as const

/** A trace that was created and deleted so often; gives the last deletion, too. */
const deletedOften = (times: number) => {
  let state: TraceState = traces.initial()
  let last: TraceEvent | undefined
  for (let i = 0; i < times; i++) {
    state = traces.evolve(state, created, { at: 10 * i })
    last = remove(writer)(state, 0, 0)[0]!
    state = traces.evolve(state, last, { at: 10 * i + 5, actor: { userId: `u${i}` } })
  }
  return { state, last }
}

test('a deletion has the newest twenty earlier ones, and the number of all', () => {
  const { state, last } = deletedOften(2_000)
  assert.ok(last?.type === 'TraceDeleted')
  assert.is(last.data.earlier.length, 20)
  assert.equal(last.data.earlier.at(-1), { createdAt: 19_980, deletedAt: 19_985, deletedBy: 'u1998', messageCount: 0 })
  assert.is(last.data.earlierCount, 1_999)
  assert.is(state.trace.earlier.count, 2_000)
  assert.is(state.trace.earlier.newest.at(-1)?.deletedAt, 19_995)
})

test('few earlier deletions are all kept, in the original format', () => {
  const { state, last } = deletedOften(3)
  assert.ok(last?.type === 'TraceDeleted' && last.data.earlierCount === undefined)
  assert.equal(
    last.data.earlier.map(({ createdAt }) => createdAt),
    [0, 10],
  )
  assert.is(state.trace.earlier.count, 3)
})

test('a list that is longer than what is kept is read', () => {
  const earlier = Array.from({ length: 300 }, (_, i) => ({ createdAt: i, deletedAt: i, messageCount: 1 }))
  const { count, newest } = withDeletion({ ...owner, createdAt: 300, messageCount: 0, earlier }, 301, undefined)
  assert.is(count, 301)
  assert.equal(newest.slice(-2), [
    { createdAt: 299, deletedAt: 299, messageCount: 1 },
    { createdAt: 300, deletedAt: 301, messageCount: 0 },
  ])
  assert.equal(earlierFields(NO_EARLIER), { earlier: [] })
})

test('incarnations are distinguished, for any number of deletions', () => {
  const present = [created, counted].reduce<TraceState>(
    (state, event) => traces.evolve(state, event, { at: 1 }),
    deletedOften(50).state,
  )
  const given = { summary: 's', messageCount: 1 }
  assert.is(summarise({ ...given, deletions: 49 }, 20)(present, 0, 0).length, 0)
  assert.is(summarise({ ...given, deletions: 50 }, 20)(present, 0, 0).length, 1)
})

test.run()
