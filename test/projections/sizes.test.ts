import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sizes } from '../../projections/sizes.ts'
import { traces } from '../../projections/traces.ts'
import { traceId } from '../../src/base/ids.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('sizes of namespaces')
const models = await openModels(sizes, traces)
test.after(() => models.close())

const user = '00000000-0000-4000-8000-00000000000a'
const namespaces = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']

const created = (namespaceId: string, externalId: string): TraceEvent => ({
  type: 'TraceCreated',
  data: { externalId, namespaceId, createdBy: user, agentId: 'a', visibility: 'private' },
})
const added = (ordinal: number, text: string): TraceEvent => ({
  type: 'MessageAdded',
  data: {
    externalId: `m${ordinal}`,
    ordinal,
    role: 'user',
    class: 'user_message',
    tools: [],
    textContent: text,
    parts: [],
  },
})
const deleted = (namespaceId: string, externalId: string): TraceEvent => ({
  type: 'TraceDeleted',
  data: { externalId, namespaceId, createdBy: user, createdAt: 0, messageCount: 0, earlier: [] },
})

/** Steps with two traces in each of two namespaces: a write makes the trace when there is none. */
const history = (steps: readonly { trace: number; ends: boolean; length: number }[]): StreamEvent[] => {
  const lives = new Map<number, number>()
  return steps.flatMap(({ trace, ends, length }) => {
    const [namespaceId, externalId] = [namespaces[trace % 2]!, `t${trace}`]
    const stream = `trace-${traceId(namespaceId, externalId)}`
    const count = lives.get(trace)
    if (ends) {
      lives.delete(trace)
      return count === undefined ? [] : [{ stream, event: deleted(namespaceId, externalId) }]
    }
    lives.set(trace, (count ?? 0) + 1)
    const message = { stream, event: added(count ?? 0, 'x'.repeat(length)) }
    return count === undefined ? [{ stream, event: created(namespaceId, externalId) }, message] : [message]
  })
}

const step = fc.record({
  trace: fc.nat(3),
  ends: fc.boolean(),
  length: fc.nat(50),
})

test('are the sums over the existing traces, for any batches of events', async () => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 20 }),
    fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1 }),
    async (steps, cuts) => {
      const model = await models.model()
      const events = decodedEvents(history(steps))
      for (let at = 0, i = 0; at < events.length; i++) {
        const size = cuts[i % cuts.length]!
        await model.apply(events.slice(at, at + size))
        at += size
      }
      const shown = await model.rows('select * from sizes order by 1')
      const sums =
        'select namespace_id, count(*) as traces, sum(bytes)::int8 as bytes from traces group by 1 order by 1'
      assert.equal(shown, await model.rows(sums))
      await model.close()
    },
  )
  await fc.assert(property, { numRuns: 40 })
})

test.run()
