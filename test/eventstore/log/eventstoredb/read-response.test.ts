import { randomBytes } from 'node:crypto'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseReadResponse } from '../../../../src/eventstore/log/eventstoredb/read-response.ts'
import { newId } from '../../../../src/base/ids.ts'
import {
  caughtUp,
  checkpoint,
  confirmation,
  eventResponse,
  missingResponse,
} from '../../../support/eventstoredb/messages.ts'

const sent = (response: { serializeBinary(): Uint8Array }) => parseReadResponse(Buffer.from(response.serializeBinary()))

const record = {
  position: 268_436_389n,
  stream: 'tracebook.trace-1',
  revision: 7n,
  created: 1_700_000_000_000,
  id: newId(),
  type: 'Noted',
  contentType: 'application/octet-stream',
  data: Buffer.from('{"n":1}'),
  metadata: Buffer.from('{"at":1}'),
}

test('an event is read as it was sent', () => {
  const big = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
  const text = fc.string({ unit: 'binary', maxLength: 300 }).filter((each) => each.isWellFormed())
  fc.assert(
    fc.property(big, big, text, text, text, text, (position, revision, stream, type, data, metadata) => {
      const bytes = { data: Buffer.from(data), metadata: Buffer.from(metadata) }
      const { event } = sent(eventResponse({ ...record, position, revision, stream, type, ...bytes }))
      assert.equal([event!.stream, event!.position], [stream, position])
      assert.is(event!.bytes, bytes.data.length + bytes.metadata.length)
      assert.equal(event!.stored(), { stream, revision, position, id: record.id, type, data, metadata })
    }),
  )
})

test('other messages are distinguished', () => {
  assert.equal(sent(confirmation(newId())), { isConfirmation: true })
  assert.equal(sent(caughtUp()), { isCaughtUp: true })
  for (const position of [0n, 1n, 127n, 128n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 63n - 1n, 2n ** 64n - 1n])
    assert.equal(sent(checkpoint(position)), { checkpoint: position })
  assert.equal(sent(missingResponse('a')), {})
  assert.equal(sent(new streams.ReadResp().setFirstStreamPosition('5')), {})
  assert.equal(sent(new streams.ReadResp()), {})
})

test('a response whose event is gone holds none', () => {
  const read = new streams.ReadResp.ReadEvent().setNoPosition(new shared.Empty())
  assert.equal(sent(new streams.ReadResp().setEvent(read)), {})
})

test('unknown fields of newer servers are ignored', () => {
  const known = Buffer.from(eventResponse(record).serializeBinary())
  const unknown = Buffer.from([
    ...[0xf8, 0x07, 0x96, 0x01],
    ...[0xfa, 0x07, 0x02, 1, 2],
    ...[0xf9, 0x07, 1, 2, 3, 4, 5, 6, 7, 8],
  ])
  const more = Buffer.concat([unknown, known, Buffer.from([0xfd, 0x07, 1, 2, 3, 4])])
  assert.equal(parseReadResponse(more).event!.stored(), parseReadResponse(known).event!.stored())
})

test('a truncated or invalid message is an error, and never an event', () => {
  const whole = Buffer.from(eventResponse(record).serializeBinary())
  for (let length = 1; length < whole.length; length++)
    assert.throws(() => parseReadResponse(whole.subarray(0, length)))
  for (let i = 0; i < 2_000; i++) {
    try {
      parseReadResponse(randomBytes(40)).event?.stored()
    } catch (error) {
      assert.instance(error, Error)
    }
  }
})

test.run()
