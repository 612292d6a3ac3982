import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Rejected } from '../../../../src/eventstore/engine/rejected.ts'
import { traces, upsert as upsertTrace } from '../../../../src/server/trace/decide.ts'
import { upsertMessages } from '../../../../src/server/trace/messages/decide.ts'
import { growthOf, mostGrowthOf } from '../../../../src/server/trace/messages/growth.ts'
import { toUpsert } from '../../../../src/server/trace/messages/message.ts'
import type { TraceEvent } from '../../../../src/server/trace/events.ts'
import { foldAll } from '../../../support/given.ts'
import { upsert } from '../arbitraries.ts'

const test = suite('trace/messages/growth')
const writer = { userId: 'ada', role: 'admin' } as const
const created = upsertTrace(writer, { externalId: 't', namespaceId: 'n' }, {})(traces.initial(), 1, 1)

test('upserts never add more than is reserved for them', () =>
  fc.assert(
    fc.property(fc.array(fc.array(upsert, { maxLength: 6 }), { maxLength: 5 }), (batches) => {
      let state = foldAll<ReturnType<typeof traces.initial>, TraceEvent>(traces, created)
      for (const batch of batches) {
        const { events, result } = upsertMessages(writer, batch)(state, 1, 1)
        assert.ok(growthOf(result) <= mostGrowthOf(batch), `${growthOf(result)} of ${mostGrowthOf(batch)}`)
        state = foldAll(traces, events, state)
      }
    }),
    { numRuns: 300 },
  ))

test('a decision keeps to the room that it gets', () => {
  const state = foldAll<ReturnType<typeof traces.initial>, TraceEvent>(traces, created)
  const upserts = [toUpsert('m', { role: 'user', textContent: 'x'.repeat(1_000) })]
  const growth = growthOf(upsertMessages(writer, upserts)(state, 1, 1).result)
  const room = (free: number, limit = 5_000) => ({ free, limit, unit: 'bytes' })
  const codeOf = (given: ReturnType<typeof room>) => {
    try {
      return upsertMessages(writer, upserts, given)(state, 1, 1).result.length
    } catch (error) {
      return (error as Rejected).code
    }
  }
  assert.equal([room(growth), room(growth - 1), room(growth - 1, growth - 1)].map(codeOf), [
    1,
    'quota_exceeded',
    'payload_too_large',
  ])
})

test.run()
