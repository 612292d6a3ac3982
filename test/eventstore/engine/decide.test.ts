import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Context, toNewEvents } from '../../../src/eventstore/engine/decide.ts'

const test = suite('engine/decide')

const kind = { category: 'thing' } as never

test('the metadata of an event are the JSON text of what followers get, for commands in any order', () => {
  const tricky: Context = { actor: { userId: '"index":7' }, requestId: 'a"index":1' }
  const contexts: readonly Context[] = [{}, tricky, { requestId: 'b', noteLastEvent: () => {} }]
  const decided = Array.from({ length: 240 }, (_, i) => ({
    event: { type: 'Noted', data: { i } },
    context: contexts[(i * 7) % 11 < 5 ? 0 : (i >> 3) % 3]!,
    at: 1_000 + (i >> 5),
    data: `{"i":${i}}`,
    schemaVersion: 1 + (i % 17 === 0 ? 1 : 0),
  }))
  const events = toNewEvents(kind, decided)
  assert.is(events.length, 240)
  for (const [i, { metadata, decoded }] of events.entries()) {
    assert.is(metadata, JSON.stringify(decoded!.metadata))
    assert.is(decoded!.metadata.append.index, i)
    assert.is(decoded!.metadata.requestId, decided[i]!.context.requestId)
  }
})

test.run()
