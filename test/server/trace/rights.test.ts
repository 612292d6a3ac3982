import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PUBLIC_TRACES, effectOf, tracesIn, tracesNamed } from '../../../src/server/effects.ts'
import type { DecodedEvent } from '../../../src/eventstore/engine/projection.ts'
import { Rejected } from '../../../src/eventstore/engine/rejected.ts'
import { patch, remove, traces, upsert } from '../../../src/server/trace/decide.ts'
import type { Trace } from '../../../src/server/trace/state.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'

const test = suite('rights to a trace: the effects of events')

const writer = { userId: 'ada', role: 'admin' } as const
const origin = { externalId: 'name', namespaceId: 'space' }
const fields = fc.record(
  { visibility: fc.constantFrom('private', 'direct', 'public'), title: fc.constantFrom('a', 'b') },
  { requiredKeys: [] },
)
const intent = fc.oneof(
  fields.map((given) => upsert(writer, origin, given)),
  fields.map((given) => patch(writer, given)),
  fc.constant(remove(writer)),
)

type Step = { readonly event: TraceEvent; readonly before: Trace; readonly after: Trace }

const histories = fc.array(intent, { minLength: 1, maxLength: 20 }).map((intents) => {
  let state = traces.initial()
  const steps: Step[] = []
  for (const decide of intents) {
    let events: readonly TraceEvent[] = []
    try {
      events = decide(state, 0, 0)
    } catch (error) {
      if (!(error instanceof Rejected)) throw error
    }
    for (const event of events) {
      const before = state.trace
      state = traces.evolve(state, event, { at: 0 })
      steps.push({ event, before, after: state.trace })
    }
  }
  return steps
})

const isPresent = (trace: Trace) => trace.is === 'present'
const isPublic = (trace: Trace) => trace.is === 'present' && trace.fields.visibility === 'public'

test('an event that takes a right to read says so, and one that takes or gives it names the lists that change', () => {
  fc.assert(
    fc.property(histories, (steps) => {
      for (const { event, before, after } of steps) {
        const { topics, takesRight } = effectOf({ ...event, streamId: 'trace' } as DecodedEvent)
        if (isPublic(before) && !isPublic(after)) assert.ok(takesRight, event.type)
        if (isPresent(before) && !isPresent(after)) assert.ok(takesRight, event.type)
        const expected = ['trace']
        if (!isPublic(before) && isPublic(after)) expected.push(PUBLIC_TRACES)
        if (!isPresent(before)) expected.push(tracesIn('space'))
        if (isPresent(before) !== isPresent(after)) expected.push(tracesNamed('name'))
        for (const topic of expected) assert.ok(topics.includes(topic), `${event.type} ${topic}`)
      }
    }),
    { numRuns: 300 },
  )
})

test.run()
