import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { messages } from '../../projections/messages.ts'
import { models as registry } from '../../projections/models.ts'
import { sizes } from '../../projections/sizes.ts'
import { traces } from '../../projections/traces.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { type StreamEvent, decodedEvents, openModels } from './support.ts'

const test = suite('projections: when traces began and ended')
const models = await openModels(registry, sizes, traces, messages)
test.after(() => models.close())

const owner = { externalId: 't', namespaceId: randomUUID(), createdBy: randomUUID() }
const created: TraceEvent = { type: 'TraceCreated', data: { ...owner, agentId: 'a', visibility: 'private' } }
const deleted: TraceEvent = {
  type: 'TraceDeleted',
  data: { ...owner, createdAt: 0, messageCount: 0, earlier: [] },
}
const counted = { class: 'user_message' as const, tools: [] }

const added = (ordinal: number, timestamp: number | undefined): TraceEvent => ({
  type: 'MessageAdded',
  data: { externalId: `m${ordinal}`, ordinal, role: 'user', ...counted, parts: [], ...(timestamp === undefined ? {} : { timestamp }) }, // prettier-ignore
})
const retimed = (ordinal: number, op: 'add' | 'replace', value: number): TraceEvent => ({
  type: 'MessageUpdated',
  data: { externalId: `m${ordinal}`, ordinal, ...counted, patch: [{ op, path: '/timestamp', value }] },
})

type Times = { readonly started_at: number | null; readonly ended_at: number | null }
type Step = { readonly message: number; readonly timestamp: number | undefined }

/** The events of steps in one trace, and what its messages say at the end. A step without a message deletes the trace and begins anew. */
const history = (stream: string, steps: readonly (Step | 'again')[]): { events: StreamEvent[]; times: Times } => {
  let timestamps: (number | undefined)[] = []
  const events = steps.flatMap((step): TraceEvent[] => {
    if (step === 'again') {
      timestamps = []
      return [deleted, created]
    }
    const { message, timestamp } = step
    if (message >= timestamps.length) return [added(timestamps.push(timestamp) - 1, timestamp)]
    const before = timestamps[message]
    if (timestamp === undefined || timestamp === before) return []
    timestamps[message] = timestamp
    return [retimed(message, before === undefined ? 'add' : 'replace', timestamp)]
  })
  const known = timestamps.filter((timestamp) => timestamp !== undefined)
  const times = known.length === 0 ? [null, null] : [Math.min(...known), Math.max(...known)]
  return {
    events: [created, ...events].map((event) => ({ stream, event })),
    times: { started_at: times[0]!, ended_at: times[1]! },
  }
}

const step = fc.record({
  message: fc.nat(6),
  timestamp: fc.option(fc.integer({ min: -3, max: 9 }), { nil: undefined }),
})

test('the times of a trace are the smallest and the largest timestamp of the messages, for any batches of events', async () => {
  const steps = fc.array(fc.oneof({ weight: 12, arbitrary: step }, fc.constant('again' as const)), { maxLength: 24 })
  const property = fc.asyncProperty(steps, fc.array(fc.integer({ min: 1, max: 6 })), async (steps, cuts) => {
    const one = await models.model()
    const [stream, other] = [`trace-${randomUUID()}`, `trace-${randomUUID()}`]
    const { events, times } = history(stream, steps)
    const left = decodedEvents([{ stream: other, event: created }, { stream: other, event: added(0, 5) }, ...events])
    for (const cut of [...cuts, Infinity]) {
      const batch = left.splice(0, cut)
      if (batch.length > 0) await one.apply(batch)
    }
    const rows = await one.rows(`select id, started_at, ended_at from traces`)
    const expected = [
      { id: stream.slice('trace-'.length), ...times },
      { id: other.slice('trace-'.length), started_at: 5, ended_at: 5 },
    ]
    const byId = (rows: readonly Record<string, unknown>[]) => new Map(rows.map((row) => [row.id, row]))
    assert.equal(byId(rows), byId(expected))
    await one.close()
  })
  await fc.assert(property, { numRuns: 60 })
})

test.run()
