import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newCodec } from '../../../src/eventstore/engine/codec.ts'
import type { DomainEvent } from '../../../src/eventstore/engine/stream.ts'
import { parseExact } from '../../../src/base/json/exact.ts'
import { difference, headsOf, toUpsert } from '../../../src/server/trace/messages/message.ts'
import { storedPart } from '../../../src/server/trace/messages/part.ts'
import { headOfParts } from '../../../src/server/trace/messages/heads.ts'
import { traceFormats } from '../../../src/server/trace/formats.ts'
import { merge, part, upsert } from './arbitraries.ts'

const test = suite('trace/formats')
const codec = newCodec(traceFormats)

const counted = { class: 'user_message' as const, tools: [] }

/** What comes of an event that goes into the log and is read again. */
const again = (event: DomainEvent): DomainEvent => {
  const { data, schemaVersion: schema } = codec.encode(event)
  const metadata = JSON.stringify({ at: 1, schema, append: { id: 'a', index: 0, size: 1 } })
  return codec.decode({ id: 'e', stream: 's', revision: 0n, position: 1n, type: event.type, data, metadata })
}

test('parts of a message are plain JSON in the log, and are decoded unchanged', () => {
  fc.assert(
    fc.property(upsert, fc.array(part, { maxLength: 4 }), ({ externalId, given }, parts) => {
      const { parts: _, ...fields } = merge(undefined, given)
      const data = { externalId, ordinal: 0, ...fields, ...counted, parts: parts.map(storedPart) }
      const event = { type: 'MessageAdded', data }
      const texts = data.parts.map(({ json }) => `${json}`)
      assert.is(codec.encode(event).data, JSON.stringify({ ...data, parts }))
      assert.equal(
        data.parts.map(({ json }) => json),
        texts,
      )
      assert.equal(again(event), { ...event, data: { ...data, heads: headsOf(data) } })
      assert.is(codec.encode(again(event)).data, codec.encode(event).data, 'heads are never in the log')
    }),
  )
})

test('changes of a message are RFC 6902 patches in the log, and are decoded unchanged', () => {
  fc.assert(
    fc.property(upsert, upsert, (first, second) => {
      const before = merge(undefined, first.given)
      const patch = difference(before, merge(before, second.given))
      const parts = headOfParts(second.given.parts ?? [])
      const event = { type: 'MessageUpdated', data: { externalId: 'm', ordinal: 0, ...counted, parts, patch } }
      const plain = patch.map((operation) => {
        const json = 'value' in operation && (operation.value as { json?: string } | undefined)?.json
        return json ? { ...operation, value: JSON.parse(json) as unknown } : operation
      })
      assert.is(codec.encode(event).data, JSON.stringify({ ...event.data, patch: plain }))
      assert.equal(again(event), event)
    }),
  )
})

test('numbers beyond a double and the order of keys are kept', () => {
  const parts =
    '[{"type":"tool_call","content":{"callId":"c","toolName":"t","args":{"b":[9007199254740993,-0],"0":1}}}]'
  const { given } = toUpsert('m', { role: 'assistant', parts: parseExact(parts) as never })
  const { parts: stored, ...fields } = given
  const event = { type: 'MessageAdded', data: { externalId: 'm', ordinal: 0, ...fields, ...counted, parts: stored } }
  assert.ok(codec.encode(event).data.endsWith(`"parts":${parts}}`))
  assert.equal(again(event), { ...event, data: { ...event.data, heads: headsOf(given) } })
})

test.run()
