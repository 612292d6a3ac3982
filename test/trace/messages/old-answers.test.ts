import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { counts } from '../../../projections/counts.ts'
import { leftovers } from '../../../projections/leftovers.ts'
import { messages } from '../../../projections/messages.ts'
import { parts } from '../../../projections/parts.ts'
import { traces } from '../../../projections/traces.ts'
import { messageId } from '../../../src/base/ids.ts'
import { turnsStatement } from '../../../src/summary/conversation.ts'
import { changedStatement } from '../../../src/trace/messages/changed.ts'
import { chunkStatement, wholeStatement } from '../../../src/trace/messages/chunks.ts'
import { chosenStatement, messageStatement, messageValues, oneMessage } from '../../../src/trace/messages/queries.ts'
import { messageText } from '../../../src/trace/messages/views.ts'
import { type Model, decodedEvents, openModels } from '../../projections/support.ts'
import { eventsOf, lives } from '../../projections/support/lives.ts'
import * as oldChanged from './old/changed.ts'
import * as oldChunks from './old/chunks.ts'
import * as oldConversation from './old/conversation.ts'
import { parts as oldParts } from './old/parts.ts'
import * as oldQueries from './old/queries.ts'

const test = suite('trace: what the statements over blocks answer is what those over a row for each part have answered')

const { model, close } = await openModels(traces, counts, messages, parts, leftovers, oldParts)
test.after(close)

let [rows, withChanges] = [0, 0]

type Any = Record<string, any>

const text = (row: Any) =>
  row['external_id'] === null || row['external_id'] === undefined
    ? JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
    : `${row['ordinal']} ${row['trace_revision']} ${row['found']} ${messageText(row as never)}`

const same = async (one: Model, now: string, before: string, values: readonly unknown[]) => {
  const [found, expected] = [await one.rows<Any>(now, values), await one.rows<Any>(before, values)]
  rows += found.length
  assert.equal(found.map(text), expected.map(text))
}

const compared = async (one: Model, id: string) => {
  const [trace] = await one.rows<{ incarnation: bigint; revision: bigint }>('select incarnation, revision from traces')
  if (!trace) return
  const { incarnation, revision } = trace
  const found = await one.rows<{ ordinal: number; external_id: string }>(
    'select ordinal, external_id from messages where incarnation = $1 order by sequence, ordinal desc',
    [incarnation],
  )
  const ordinals = found.map(({ ordinal }) => ordinal)
  for (const includeParts of [false, true]) {
    const values = messageValues(id, incarnation, 50)
    await same(one, messageStatement(includeParts), oldQueries.messageStatement(includeParts), values)
    await same(one, wholeStatement({ includeParts }), oldChunks.wholeStatement({ includeParts }), values)
    const asked = [id, incarnation, `{${ordinals.join()}}`, 1e9]
    await same(one, chunkStatement({ includeParts }), oldChunks.chunkStatement({ includeParts }), asked)
    for (const since of new Set([0n, incarnation, revision / 2n, revision - 3n, revision - 1n, revision])) {
      const changed = messageValues(id, incarnation, 50, undefined, since)
      for (const chosen of ['few', 'many'] as const)
        await same(
          one,
          messageStatement(includeParts, chosen),
          oldQueries.messageStatement(includeParts, chosen),
          changed,
        )
      await same(one, changedStatement(includeParts), oldChanged.changedStatement(includeParts), [id, incarnation, since, 1e9, 1e9]) // prettier-ignore
      await same(one, chosenStatement, oldQueries.chosenStatement, [id, incarnation, since])
    }
    const reads = { rows: (_: string, statement: string, given: readonly unknown[] = []) => one.rows(statement, given) }
    for (const { external_id } of found) {
      const asked = { traceId: id, id: messageId(id, external_id), includeParts }
      assert.is(
        messageText(await oneMessage(reads as never, asked)),
        messageText(await oldQueries.oneMessage(reads as never, asked)),
      )
    }
  }
  await same(one, turnsStatement, oldConversation.turnsStatement, [id])
  const [changes] = await one.rows<{ n: number }>('select count(*)::int as n from message_parts')
  withChanges += changes!.n
}

test('pages, lists, changes, single messages, and what summaries read', async () => {
  const law = fc.asyncProperty(lives, fc.boolean(), fc.boolean(), async (steps, isOfBefore, isSplit) => {
    const id = randomUUID()
    const one = await model()
    const events = decodedEvents(eventsOf(`trace-${id}`, steps, isOfBefore))
    for (const part of isSplit ? Map.groupBy(events, ({ appendId }) => appendId).values() : [events])
      await one.apply(part)
    await compared(one, id)
    await one.close()
  })
  await fc.assert(law, { numRuns: 60 })
  assert.ok(rows > 3_000 && withChanges > 500, `${rows} rows, ${withChanges} changed parts`)
})

test('a message of 15 MB, and one of thousands of tiny parts, as they come and change', async () => {
  const { toUpsert } = await import('../../../src/trace/messages/message.ts')
  const id = randomUUID()
  const one = await model()
  const part = (value: string) => ({ type: 'text' as const, content: { text: value } })
  const large = (value: string, ...more: string[]) =>
    toUpsert('large', { role: 'user', parts: ['ä'.repeat(7_500_000), value, ...more].map(part) })
  const tiny = (changed: number, count: number) =>
    toUpsert('tiny', {
      role: 'user',
      parts: Array.from({ length: count }, (_, i) => part(i % changed === 0 ? `${changed}` : '')),
    })
  const write = (...upserts: ReturnType<typeof toUpsert>[]) => ({ do: 'write' as const, upserts })
  const events = decodedEvents(
    eventsOf(`trace-${id}`, [
      { do: 'put', title: 't', visibility: undefined },
      write(large('a'), tiny(3, 5_000)),
      write(large('b', 'c'), tiny(7, 6_000)),
      write(tiny(11, 4_000)),
      write(toUpsert('large', { role: 'user', parts: [part('only one')] })),
      write(large('d')),
    ]),
  )
  for (const append of Map.groupBy(events, ({ appendId }) => appendId).values()) {
    await one.apply(append)
    await compared(one, id)
  }
  await one.close()
})

test.run()
