import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { obsoleteRows } from '../../../../projections/obsolete-rows.ts'
import { messages } from '../../../../projections/messages.ts'
import { models } from '../../../../projections/models.ts'
import { parts } from '../../../../projections/parts.ts'
import { sizes } from '../../../../projections/sizes.ts'
import { traces } from '../../../../projections/traces.ts'
import type { TraceEvent } from '../../../../src/server/trace/events.ts'
import { headOfPart, partHeadLine } from '../../../../src/server/trace/messages/heads.ts'
import { type MessageDocument, applyPatch } from '../../../../src/server/trace/messages/message.ts'
import { storedPart, partText } from '../../../../src/server/trace/messages/part.ts'
import {
  type PartHeadsRow,
  eachPart,
  headLinesIn,
  partHeads,
  partsText,
} from '../../../../src/server/trace/messages/stored-parts.ts'
import type { DecodedEvent } from '../../../../src/eventstore/engine/projection.ts'
import { type Model, NOON, type StreamEvent, decodedEvents, openModels } from '../../../projections/support.ts'
import { eventsOf, lives } from '../../../projections/support/lives.ts'
import { runs } from '../../../support/runs.ts'

const test = suite('trace: the parts of messages in blocks and as they were changed')

const { model, close } = await openModels(models, sizes, traces, messages, parts, obsoleteRows)
test.after(close)

/** Messages by ordinal, as the events of the trace's last life make them. */
const documentsOf = (events: readonly StreamEvent[]) => {
  let documents: MessageDocument[] = []
  for (const { event } of events as readonly { event: TraceEvent }[]) {
    if (event.type === 'TraceDeleted') documents = []
    else if (event.type === 'MessageAdded') documents[event.data.ordinal] = event.data as MessageDocument
    else if (event.type === 'MessageUpdated')
      documents[event.data.ordinal] = applyPatch(documents[event.data.ordinal]!, event.data.patch)
  }
  return documents
}

const appendsOf = (events: readonly DecodedEvent[]) => Map.groupBy(events, ({ appendId }) => appendId).values()

const ofTrace = 'from traces t join messages m on m.trace_id = t.id and m.incarnation = t.incarnation where t.id = $1'

type Shown = PartHeadsRow & { parts: string | null; each: string | null }

const shown = (one: Model, id: string, count: number) =>
  one.rows<Shown>(
    `select ${partsText} as parts, ${partHeads('$2::int4')},
       (select string_agg(${eachPart.text}, ',' order by p.position) from ${eachPart.from}) as each
     ${ofTrace} order by m.ordinal`,
    [id, count],
  )

const assertShows = async (one: Model, id: string, documents: readonly MessageDocument[]) => {
  for (const count of [0, 1, 3, 2 ** 31 - 1]) {
    const rows = await shown(one, id, count)
    assert.is(rows.length, documents.length)
    for (const [i, { parts }] of documents.entries()) {
      const { each, parts: text, ...heads } = rows[i]!
      const expected = parts.map((part, i) => partText(part.json, i)).join()
      assert.is(text ?? '', expected)
      assert.is(each ?? '', expected)
      const lines = headLinesIn(heads).map((line) => line.split(' ', 3).join(' '))
      assert.equal(
        lines,
        parts.slice(0, count).map((part) => partHeadLine(headOfPart(part))),
      )
    }
  }
}

const tables = ['messages', 'message_blocks', 'message_parts']

/** The rows of a trace as it is now, whole. */
const contents = (one: Model) =>
  Promise.all(
    tables.map((table) =>
      one.rows(
        `select r.* from ${table} r join traces t on t.id = r.trace_id and t.incarnation = r.incarnation order by 1, 2, 3, 4`,
      ),
    ),
  )

test('are the parts that the events came to, in whatever batches these came', async () => {
  const law = fc.asyncProperty(lives, async (steps) => {
    const id = randomUUID()
    const events = eventsOf(`trace-${id}`, steps)
    const documents = documentsOf(events)
    const [whole, single] = [await model(), await model()]
    await whole.apply(decodedEvents(events))
    for (const append of appendsOf(decodedEvents(events))) await single.apply(append)
    for (const one of [whole, single]) await assertShows(one, id, documents)
    assert.equal(await contents(whole), await contents(single))
    await whole.close()
    await single.close()
  })
  await fc.assert(law, { numRuns: runs(20) })
})

const added = (ordinal: number, texts: readonly string[]): TraceEvent => ({
  type: 'MessageAdded',
  data: {
    ...{ externalId: `m${ordinal}`, ordinal, role: 'user', class: 'user_message', tools: [] },
    parts: texts.map((text) => storedPart({ type: 'text', content: { text } })),
  },
})

const owner = { externalId: 't', namespaceId: randomUUID(), createdBy: randomUUID() }
const created: TraceEvent = { type: 'TraceCreated', data: { ...owner, agentId: 'a', visibility: 'private' } }

test('a block has at most 32 KiB, or one message, and ends with its append, however large that is', async () => {
  const stream = `trace-${randomUUID()}`
  const large = 'x'.repeat(300 * 1024)
  const sizes = [[large], ...Array.from({ length: 300 }, (_, i) => [large.slice(0, (i * 997) % 20_000)]), [large]]
  const append = sizes.map((texts, i) => ({ stream, event: added(i, texts), append: 'one', at: NOON }))
  const next = { stream, event: added(sizes.length, ['of the next']), append: 'two' }
  const events = decodedEvents([{ stream, event: created }, ...append, next])
  const [whole, single] = [await model(), await model()]
  await whole.apply(events)
  for (const part of appendsOf(events)) await single.apply(part)
  assert.equal(await contents(whole), await contents(single))
  const blocks = await whole.rows<{ bytes: number; messages: bigint }>(
    `select length(b.body) as bytes, count(*) as messages from message_blocks b join messages m on m.block = b.revision
     group by b.revision, b.body`,
  )
  assert.ok(blocks.length > 50 && blocks.length < 200, `${blocks.length}`)
  for (const { bytes, messages } of blocks) assert.ok(bytes <= 32 * 1024 || messages === 1n, `${bytes}, ${messages}`)
  assert.is(blocks.filter(({ bytes }) => bytes > 32 * 1024).length, 2)
})

test.run()
