import fc from 'fast-check'
import { Rejected } from '../../../src/eventstore/engine/rejected.ts'
import { remove, traces, upsert } from '../../../src/server/trace/decide.ts'
import type { TraceState } from '../../../src/server/trace/state.ts'
import type { TraceEvent } from '../../../src/server/trace/events.ts'
import { upsertMessages } from '../../../src/server/trace/messages/decide.ts'
import { toUpsert } from '../../../src/server/trace/messages/message.ts'
import { NOON, foldAll } from '../../support/given.ts'
import { type Step, step } from '../../server/trace/arbitraries.ts'
import type { StreamEvent } from '../support.ts'

const writer = { userId: '00000000-0000-4000-8000-000000000001', role: 'member' as const }
const origin = { externalId: 't', namespaceId: '00000000-0000-4000-8000-000000000002' }

const decided = (state: TraceState, one: Step): readonly TraceEvent[] => {
  try {
    if (one.do === 'put')
      return upsert(writer, origin, one.title === undefined ? {} : { title: one.title })(state, 1, 1)
    if (one.do === 'delete') return remove(writer)(state, 1, 1)
    return upsertMessages(writer, one.upserts)(state, 1, 1).events
  } catch (error) {
    if (error instanceof Rejected) return []
    throw error
  }
}

/** The events of steps, each of which is an append. */
export const eventsOf = (stream: string, steps: readonly Step[]): StreamEvent[] => {
  let state = traces.initial()
  return steps.flatMap((one, i) => {
    const events = decided(state, one)
    state = foldAll(traces, events, state)
    const place = { stream, append: `append ${i}`, at: NOON + i * 1_000 }
    return events.map((event) => ({ ...place, event }))
  })
}

/** Many messages at once, and messages with many parts, which fill several blocks. */
const many: fc.Arbitrary<Step> = fc
  .record({
    from: fc.nat(3),
    messages: fc.integer({ min: 1, max: 12 }),
    parts: fc.constantFrom(0, 1, 40, 300),
    text: fc.constantFrom('a', 'é'.repeat(700), '🙂'.repeat(3_000)),
  })
  .map(({ from, messages, parts, text }) => ({
    do: 'write',
    upserts: Array.from({ length: messages }, (_, i) =>
      toUpsert(`m${from + i}`, {
        role: 'assistant',
        parts: Array.from({ length: parts > 40 && text.length > 1 ? 40 : parts }, (_, j) => ({
          type: 'text',
          content: { text: j % 7 === from ? `${text}${j}` : String(j) },
        })),
      }),
    ),
  }))

/** What clients do to one trace while it exists, and after it was deleted and created again. */
export const lives: fc.Arbitrary<readonly Step[]> = fc
  .array(fc.oneof({ weight: 4, arbitrary: step }, { weight: 1, arbitrary: many }), { minLength: 1, maxLength: 14 })
  .map((steps) => [{ do: 'put', title: 't', visibility: undefined }, ...steps])
