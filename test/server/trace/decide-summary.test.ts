import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { noCounts, traces } from '../../../src/server/trace/decide.ts'
import { isDue, summarise } from '../../../src/server/trace/decide-summary.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { foldAll, specify } from '../../support/given.ts'

const test = suite('summarise')
const given = specify(traces)

const created: TraceEvent = {
  type: 'TraceCreated',
  data: { externalId: 'x', namespaceId: 'n', createdBy: 'u', agentId: 'a', visibility: 'private' },
}
const counted = (messageCount: number): TraceEvent => ({ type: 'MessagesCounted', data: { ...noCounts, messageCount } })
const summarised = (messageCount: number): TraceEvent => ({
  type: 'TraceSummarised',
  data: { title: 'T', summary: 'S', messageCount },
})
const deleted: TraceEvent = {
  type: 'TraceDeleted',
  data: { externalId: 'x', namespaceId: 'n', createdBy: 'u', createdAt: 0, messageCount: 1, earlier: [] },
}
const summary = (messageCount: number, deletions = 0) =>
  summarise({ title: 'T', summary: 'S', messageCount, deletions }, 20)

test('the first summary is due with the first message', () => {
  assert.not(isDue(0, undefined, 20))
  assert.ok(isDue(1, undefined, 20))
  assert.not(isDue(20, 1, 20))
  assert.ok(isDue(21, 1, 20))
})
test('a first summary is recorded once', () => given(created, counted(3)).when(summary(3)).emits(summarised(3)))
test('a summary without a title is recorded without one', () =>
  given(created, counted(3))
    .when(summarise({ title: undefined, summary: 'S', messageCount: 3, deletions: 0 }, 20))
    .emits({ type: 'TraceSummarised', data: { summary: 'S', messageCount: 3 } }))
test('a summary that came too late is not recorded', () =>
  given(created, counted(30), summarised(25)).when(summary(30)).emits())
test('another summary is recorded after enough messages', () =>
  given(created, counted(30), summarised(10)).when(summary(30)).emits(summarised(30)))
test('a deleted trace gets no summary', () => {
  given().when(summary(3)).emits()
  given(created, counted(3), deleted).when(summary(3)).emits()
})
test('a summary of an earlier incarnation is refused, one of the present incarnation is recorded', () => {
  given(created, counted(3), deleted, created, counted(3)).when(summary(3)).emits()
  given(created, counted(3), deleted, created, counted(3)).when(summary(3, 1)).emits(summarised(3))
})
test('a summary does not change updatedAt', () => {
  const before = foldAll(traces, [created, counted(3)]).trace
  const after = foldAll(traces, [created, counted(3), summarised(3)]).trace
  assert.ok(before.is === 'present' && after.is === 'present' && before.updatedAt === after.updatedAt)
})

test.run()
