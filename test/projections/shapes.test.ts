import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { messages } from '../../projections/messages.ts'
import { models as registry } from '../../projections/models.ts'
import { parts } from '../../projections/parts.ts'
import { shapes } from '../../projections/shapes.ts'
import { sizes } from '../../projections/sizes.ts'
import { traces } from '../../projections/traces.ts'
import type { SessionShape } from '../../src/contract/trace.ts'
import type { Part } from '../../src/contract/message.ts'
import { type Projection, projectionOf } from '../../src/eventstore/engine/projection.ts'
import type { TraceEvent } from '../../src/server/trace/events.ts'
import { headOfParts } from '../../src/server/trace/messages/heads.ts'
import { type MessageDocument, difference } from '../../src/server/trace/messages/message.ts'
import { storedPart } from '../../src/server/trace/messages/part.ts'
import { toolsOf } from '../../src/server/trace/messages/classify.ts'
import { QUARTER_MS, quarterOf } from '../../src/tables/usage.ts'
import { failedOf, listed, shapeOf } from '../server/trace/shape-oracle.ts'
import { type Model, NOON, type StreamEvent, decodedEvents, openModels } from './support.ts'
import { runs } from '../support/runs.ts'

const test = suite('projections: the shapes of traces')

let fails = false
/** Fails when it is told to, as the last of a batch. */
const failing: Projection = projectionOf<TraceEvent>()<object>({
  ...{ name: 'failing', tables: '', rows: {}, indexes: '', start: () => ({}) },
  on: {} as never,
  write: () => {},
  derive: async (_changes, { write }) => (fails ? write('', 'select 1 / 0', []) : undefined),
})

const models = await openModels(registry, sizes, traces, messages, parts, shapes, failing)
test.after(() => models.close())

const owner = { externalId: 't', namespaceId: randomUUID(), createdBy: randomUUID() }
const fields = { ...owner, agentId: 'a', visibility: 'private' as const }
const created: TraceEvent = { type: 'TraceCreated', data: fields }
const deleted: TraceEvent = { type: 'TraceDeleted', data: { ...owner, createdAt: 0, messageCount: 0, earlier: [] } }
const classified = ({ parts }: MessageDocument) => ({ class: 'agent_text' as const, tools: toolsOf(parts) })
/** When each message came. */
const arrival = (ordinal: number) => NOON + ordinal * QUARTER_MS
const types = { user_message: 0, agent_context: 0, agent_text: 0, agent_thinking: 0, tool_call: 0 }
const totals = (messageCount: number) => ({ messageCount, messageTypeCounts: types, toolTypeCounts: {} })

const added = (document: MessageDocument, ordinal: number): TraceEvent => ({
  type: 'MessageAdded',
  data: { externalId: `m${ordinal}`, ordinal, ...document, ...classified(document) },
})
const updated = (before: MessageDocument, after: MessageDocument, ordinal: number): TraceEvent => ({
  type: 'MessageUpdated',
  data: {
    ...{ externalId: `m${ordinal}`, ordinal, ...classified(after) },
    parts: headOfParts(after.parts),
    patch: difference(before, after),
  },
})
const counted = (messageCount: number): TraceEvent => ({ type: 'MessagesCounted', data: totals(messageCount) })

/** The past is erased: the messages as they stand, in another incarnation, which begins at a revision. */
const erased = (documents: readonly MessageDocument[], since: number): TraceEvent[] => [
  ...documents.map((document, ordinal): TraceEvent => {
    const times = { createdAt: arrival(ordinal), updatedAt: 0 }
    const data = { externalId: `m${ordinal}`, ordinal, ...document, ...classified(document), ...times }
    return { type: 'MessageRestated', data: { ...data, namespaceId: owner.namespaceId, since } }
  }),
  {
    type: 'HistoryErased',
    data: { ...fields, ...totals(documents.length), createdAt: 0, updatedAt: 0, since, runs: [], bytes: 0, erased: 1, past: [], earlier: [] }, // prettier-ignore
  },
]

const call = (callId: string, path?: string): Part => {
  const args = path === undefined ? {} : { file_path: path, content: '1\n2' }
  return { type: 'tool_call', content: { callId, toolName: path === undefined ? 'Bash' : 'Write', args } }
}
const result = (callId: string, status: 'success' | 'error'): Part => ({
  type: 'tool_result',
  content: { callId, toolName: 'Bash', output: '', status },
})

const id = fc.constantFrom('a', 'b', 'c', 'odd,\0 id')
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.constantFrom('x', ' ').map((text): Part => ({ type: 'text', content: { text } })),
  fc.tuple(id, fc.option(fc.constantFrom('one', 'two'), { nil: undefined })).map(([id, path]) => call(id, path)),
  fc.tuple(id, fc.constantFrom('success' as const, 'error' as const)).map(([id, status]) => result(id, status)),
  fc.constant<Part>({ type: 'error', content: { message: 'no' } }),
)
const given = fc.record(
  {
    role: fc.constantFrom('user' as const, 'assistant' as const),
    textContent: fc.constantFrom('say', '', '\0', '\ud800'),
    model: fc.constantFrom('one', 'two'),
    order: fc.constantFrom(-1, 0, 40, 1e300),
    timestamp: fc.constantFrom(1, 2 * QUARTER_MS),
    parts: fc.array(part, { maxLength: 4 }).map((some) => some.map(storedPart)),
  },
  { requiredKeys: [] },
)

type Given = Partial<MessageDocument>
type Step =
  | { readonly do: 'add'; readonly many: readonly Given[]; readonly inOrder: boolean }
  | { readonly do: 'update'; readonly nth: number; readonly given: Given }
  | { readonly do: 'recreate' }
  | { readonly do: 'erase' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      many: fc.array(given, { minLength: 20, maxLength: 90, size: 'max' }),
      inOrder: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.constant(false)),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('update' as const), nth: fc.nat(200), given }) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'recreate' as const }, { do: 'erase' as const }) },
)

/** The events of these steps in one trace, those of one step together, and the messages at the end. */
const history = (steps: readonly Step[]) => {
  let documents: MessageDocument[] = []
  let revision = 1
  const appends = steps.map((step): TraceEvent[] => {
    const events: TraceEvent[] = []
    if (step.do === 'recreate') {
      documents = []
      events.push(deleted, created)
    } else if (step.do === 'erase') events.push(...erased(documents, revision))
    else if (step.do === 'add') {
      for (const given of step.many) {
        const { order: _, ...rest } = given
        const document = { role: 'assistant' as const, parts: [], ...(step.inOrder ? { ...rest, order: documents.length } : given) } // prettier-ignore
        events.push(added(document, documents.push(document) - 1))
      }
      events.push(counted(documents.length))
    } else if (documents.length > 0) {
      const ordinal = step.nth % documents.length
      const before = documents[ordinal]!
      documents[ordinal] = { ...before, ...step.given }
      if (difference(before, documents[ordinal]).length > 0) events.push(updated(before, documents[ordinal], ordinal))
    }
    revision += events.length
    return events
  })
  return { appends: [[created], ...appends].filter((events) => events.length > 0), documents }
}

type ShapeRow = { shape: string | null }

const shapeIn = async (one: Model) => {
  const text = (await one.rows<ShapeRow>('select shape from counts'))[0]?.shape
  return text ? (JSON.parse(text) as SessionShape) : undefined
}
const states = (one: Model) => one.rows('select * from shape_states')

/** The calls that have failed, as the rows of a trace in the namespace say it. */
const failedIn = async (one: Model) => {
  const rows = await one.rows<{ ordinal: number; nth: number; slot: bigint; tool: string; namespace_id: string }>(
    'select * from failed_calls order by ordinal, nth',
  )
  return rows.map(({ ordinal, nth, slot, tool, namespace_id }) => {
    assert.is(namespace_id, owner.namespaceId)
    return { ordinal, nth, slot: Number(slot), tool: JSON.parse(tool) as string }
  })
}
const failures = (documents: readonly MessageDocument[]) =>
  failedOf(
    listed(
      documents.map((one, ordinal) => ({ ...one, ordinal, slot: quarterOf(one.timestamp ?? NaN, arrival(ordinal)) })),
    ),
  )

const eventsOf = (appends: readonly (readonly TraceEvent[])[]) => {
  const stream = `trace-${randomUUID()}`
  return decodedEvents(
    appends.flatMap((events, i) =>
      events.map((event): StreamEvent => {
        const at = event.type === 'MessageAdded' ? { at: arrival(event.data.ordinal) } : {}
        return { stream, event, append: `${stream}/${i}`, ...at }
      }),
    ),
  )
}

test('shapes and failed calls are those of the messages in list order, and the rows are the same, for any batches of any events', async () => {
  let [kept, failed] = [0, 0]
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 14 }),
    fc.array(fc.integer({ min: 1, max: 4 })),
    async (steps, cuts) => {
      const [whole, cut] = [await models.model(), await models.model()]
      try {
        const { appends, documents } = history(steps)
        const events = eventsOf(appends)
        await whole.apply(events)
        const left = [...Map.groupBy(events, ({ appendId }) => appendId).values()]
        for (const size of [...cuts, ...left.map(() => 1)]) {
          const batch = left.splice(0, size).flat()
          if (batch.length > 0) await cut.apply(batch)
        }
        assert.equal(await shapeIn(cut), documents.length === 0 ? undefined : shapeOf(listed(documents)))
        assert.equal(await shapeIn(whole), await shapeIn(cut))
        assert.equal(await states(whole), await states(cut))
        assert.equal(await failedIn(cut), failures(documents))
        assert.equal(await failedIn(whole), await failedIn(cut))
        failed += failures(documents).length
        kept += (await states(cut)).length
      } finally {
        await Promise.all([whole.close(), cut.close()])
      }
    },
  )
  await fc.assert(property, { numRuns: runs(20) })

  assert.ok(kept > 0, 'no shape was kept')
  assert.ok(failed > 0, 'no call has failed')
})

test('a message that is a piece of its own, before the counts of its append, has a shape', async () => {
  const one = await models.model()
  const parts = [storedPart(call('c', 'f')), storedPart({ type: 'text', content: { text: 'x'.repeat(600 * 1024) } })]
  const document: MessageDocument = { role: 'assistant', parts }
  await one.apply(eventsOf([[created], [added(document, 0), counted(1)]]))
  assert.equal(await shapeIn(one), shapeOf(listed([document])))
  await one.close()
})

test('a batch that was rolled back leaves nothing in memory', async () => {
  const one = await models.model()
  const many = Array.from({ length: 9 }, (_, order): MessageDocument => ({
    ...{ role: 'user', order, textContent: 'x' },
    parts: [storedPart(call(`c${order}`, `f${order}`))],
  }))
  const [first, ...rest] = eventsOf([[created], ...many.map((document, i) => [added(document, i), counted(i + 1)])])
  await one.apply([first!, ...rest.slice(0, 4)])
  fails = true
  const { message } = await one.apply(rest.slice(4, 12)).then(
    () => ({ message: 'applied' }),
    (error: Error) => error,
  )
  fails = false
  assert.is(message, 'division by zero')
  assert.equal(await shapeIn(one), shapeOf(many.slice(0, 2)))
  await one.apply(rest.slice(4, 8))
  assert.equal(await shapeIn(one), shapeOf(many.slice(0, 4)))
  await one.apply(rest.slice(8))
  assert.equal(await shapeIn(one), shapeOf(many))
  await one.close()
})

test('a trace may have very many messages in one batch, and a later message before them', async () => {
  const one = await models.model()
  const many = Array.from({ length: 5_000 }, (_, order): MessageDocument => {
    const [say, does] = [order % 10 === 0, order % 10 === 5]
    return {
      ...{ role: say ? ('user' as const) : ('assistant' as const), order },
      parts: (say ? [{ type: 'text' as const, content: { text: 'x' } }] : does ? [call(`c${order}`, `f${order}`)] : []).map(storedPart), // prettier-ignore
    }
  })
  const first: MessageDocument = { role: 'user', order: -1, textContent: 'first', parts: [] }
  const all = eventsOf([[created], [...many.map(added), counted(5_000)], [added(first, 5_000), counted(5_001)]])
  await one.apply(all.slice(0, -2))
  assert.equal(await shapeIn(one), shapeOf(many))
  await one.apply(all.slice(-2))
  assert.equal(await shapeIn(one), shapeOf([first, ...many]))
  await one.close()
})

test.run()
