import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newOwnEvents } from '../../../../src/eventstore/log/eventstoredb/own-events.ts'
import type { NewEvent, RecordedEvent } from '../../../../src/eventstore/log/log.ts'
import { metadataOf } from '../../../../src/eventstore/log/metadata.ts'
import { anAppend } from '../support/events.ts'

const decodedAppend = (...bodies: string[]): NewEvent[] =>
  anAppend(...bodies).map((event) => ({
    ...event,
    decoded: { data: JSON.parse(event.data) as object, metadata: metadataOf(event) },
  }))

/** The event as the server sends it. */
const read = ({ id, type, data, metadata }: NewEvent): RecordedEvent => ({
  ...{ id, type, data, metadata },
  ...{ stream: 'a', revision: 0n, position: 1n },
})

test('an event that this process has written need not be parsed again, once', () => {
  const own = newOwnEvents()
  const [event] = decodedAppend('{"n":1}')
  own.remember([event!])
  assert.is(own.withDecoded(read(event!)).decoded, event!.decoded)
  assert.is(own.withDecoded(read(event!)).decoded, undefined)
})

test('another text with the same id is another event', () => {
  const own = newOwnEvents()
  for (const change of [{ data: '{"n":2}' }, { type: 'Other' }, { metadata: '{}' }]) {
    const [event] = decodedAppend('{"n":1}')
    own.remember([event!])
    assert.is(own.withDecoded({ ...read(event!), ...change }).decoded, undefined)
  }
})

test('events that are not read are dropped', () => {
  const own = newOwnEvents(5_000)
  const events = Array.from({ length: 100 }, () => decodedAppend(JSON.stringify('x'.repeat(400)))).flat()
  own.remember(events)
  const kept = events.filter((event) => own.withDecoded(read(event)).decoded)
  assert.ok(kept.length > 0 && kept.length < 13)
  assert.is(kept.at(-1), events.at(-1))
})

test.run()
