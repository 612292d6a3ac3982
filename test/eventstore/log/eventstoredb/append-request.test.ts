import streams from '@eventstore/db-client/generated/streams_pb.js'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newId } from '../../../../src/base/ids.ts'
import {
  appendOptions,
  proposedEvent,
  proposedSystemEvent,
} from '../../../../src/eventstore/log/eventstoredb/append-request.ts'
import { expectedOf, nameOf, proposedOf } from '../../../support/eventstoredb/messages.ts'

/** As the client's own parser, which is made from the service's definition, reads a message. */
const received = (message: Buffer) => streams.AppendReq.deserializeBinary(message)
const event = (message: Buffer) => {
  const { data, metadata, ...rest } = proposedOf(received(message).getProposedMessage()!)
  return { ...rest, data: Buffer.from(data).toString(), metadata: Buffer.from(metadata).toString() }
}

const text = fc.string({ unit: 'binary', maxLength: 300 }).filter((each) => each.isWellFormed())

test('an event arrives as it was given', () => {
  const type = text.filter((each) => each !== '' && !each.includes('\0'))
  fc.assert(
    fc.property(type, text, text, (type, data, metadata) => {
      const given = { id: newId(), type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) }
      assert.equal(event(proposedEvent(given)), { ...given, contentType: 'application/octet-stream' })
    }),
  )
})

test('lengths of one, two, three and four bytes are written', () => {
  for (const length of [125, 126, 16_381, 16_382, 2_097_149, 2_097_150]) {
    const given = { id: newId(), type: 'Noted', data: JSON.stringify('x'.repeat(length)), metadata: '{}' }
    assert.is(event(proposedEvent(given)).data, given.data)
  }
})

test('fields that the server itself reads are sent as JSON', () => {
  const id = newId()
  assert.equal(event(proposedSystemEvent(id, '$metadata', { $tb: 5 })), {
    ...{ id, type: '$metadata', data: '{"$tb":5}', metadata: '' },
    contentType: 'application/json',
  })
})

test('the stream and its expected revision are sent before the events', () => {
  const options = (stream: string, expected: bigint | 'none') => {
    const sent = received(appendOptions(stream, expected)).getOptions()!
    return [nameOf(sent.getStreamIdentifier()), expectedOf(sent)]
  }
  fc.assert(
    fc.property(text, fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (stream, revision) => {
      assert.equal(options(stream, revision), [stream, revision])
    }),
  )
  for (const revision of [0n, 1n, 127n, 128n, 2n ** 63n - 1n]) assert.equal(options('a', revision), ['a', revision])
  assert.equal(options('tracebook.trace-1', 'none'), ['tracebook.trace-1', 'no_stream'])
})

test('an event that cannot be stored is refused', () => {
  const given = { id: newId(), type: 'Noted', data: '{}', metadata: '{}' }
  for (const wrong of [{ id: 'a' }, { type: '' }, { type: 'a\0' }, { data: '"\ud800"' }, { metadata: '"\udc00"' }])
    assert.throws(
      () => proposedEvent({ ...given, ...wrong }),
      (error: Error) => error instanceof TypeError,
    )
  for (const wrong of [{ data: '{' }, { metadata: '' }])
    assert.throws(
      () => proposedEvent({ ...given, ...wrong }),
      (error: Error) => error instanceof SyntaxError,
    )
})

test.run()
