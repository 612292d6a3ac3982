import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { leftovers } from '../../projections/leftovers.ts'
import { messages } from '../../projections/messages.ts'
import { parts } from '../../projections/parts.ts'
import { traces } from '../../projections/traces.ts'
import type { AnyEvent } from '../../src/events.ts'
import { type Told, happenings, openModels } from './support.ts'

const test = suite('projections: messages and parts')

const { model, close } = await openModels(traces, messages, parts, leftovers)
test.after(close)

const owner = { externalId: 't', namespaceId: randomUUID(), createdBy: randomUUID() }
const created: AnyEvent = { type: 'TraceCreated', data: { ...owner, agentId: 'a', visibility: 'private' } }
const added: AnyEvent = {
  type: 'MessageAdded',
  data: {
    externalId: 'm',
    ordinal: 0,
    role: 'user',
    parts: [{ type: 'text', content: { text: 'hello' } }],
    class: 'user_message',
    tools: [],
    digest: 'd',
  },
}
const deleted: AnyEvent = { type: 'TraceDeleted', data: { ...owner, createdAt: 1, messageCount: 1, earlier: [] } }

test('each life of a trace has rows of its own, however its events are cut into batches', async () => {
  const stream = `trace-${randomUUID()}`
  const events: Told[] = [created, added, deleted, created, added].map((event) => ({ stream, event }))
  const [whole, single] = [await model(), await model()]
  await whole.apply(happenings(events))
  for (const event of happenings(events)) await single.apply([event])
  for (const table of ['messages', 'parts']) {
    const rows = `select incarnation from ${table} order by 1`
    assert.equal(await whole.rows(rows), [{ incarnation: 3n }])
    assert.equal(await single.rows(rows), [{ incarnation: 0n }, { incarnation: 3n }])
  }
  for (const one of [whole, single]) assert.equal(await one.rows('select before from leftovers'), [{ before: 2n }])
})

test('a message whose trace has no header is refused, not lost', async () => {
  const stream = `trace-${randomUUID()}`
  const one = await model()
  const { code } = await one.apply(happenings([{ stream, event: added }])).then(
    () => ({ code: 'applied' }),
    (error: { code: string }) => error,
  )
  assert.is(code, '23502')
})

test.run()
