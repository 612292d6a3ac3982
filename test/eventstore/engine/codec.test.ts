import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { UnknownEvent, newCodec } from '../../../src/eventstore/engine/codec.ts'
import type { RecordedEvent } from '../../../src/eventstore/log/log.ts'

const test = suite('engine/codec')

const recorded = (type: string, schema: number, data: object): RecordedEvent => ({
  ...{ id: 'e', stream: 's', revision: 0n, position: 1n, type, data: JSON.stringify(data) },
  metadata: JSON.stringify({ at: 1, schema, append: { id: 'a', index: 0, size: 1 } }),
})

/** How a shape changes: the version is raised, and an upcaster makes the data of the version before into that of the new one. */
const { decode, encode, assertKnown } = newCodec({
  Renamed: {
    schema: z.object({ name: z.object({ first: z.string() }), by: z.string() }),
    version: 4,
    upcasters: {
      2: (data) => ({ ...data, by: 'nobody' }),
      3: (data) => ({ ...data, name: { first: (data as { name: string }).name } }),
    },
  },
})

test('an event of an earlier version is read as one of the current version, by the upcasters of each version between', () => {
  const current = { type: 'Renamed', data: { name: { first: 'Ada' }, by: 'Bob' } }
  assert.equal(decode(recorded('Renamed', 4, current.data)), current)
  assert.equal(decode(recorded('Renamed', 3, { name: 'Ada', by: 'Bob' })), current)
  const earliest = decode(recorded('Renamed', 2, { name: 'Ada' }))
  assert.equal(earliest, { type: 'Renamed', data: { name: { first: 'Ada' }, by: 'nobody' } })
  assert.is(encode(earliest).schemaVersion, 4)
})

test('what this code cannot read is refused before its data is parsed, and says why', () => {
  for (const [event, why] of [
    [recorded('Renamed', 5, {}), 'knows versions up to 4: run a newer one'],
    [recorded('Renamed', 1, {}), 'schema version 1, of before the first release'],
    [recorded('Moved', 1, {}), 'unknown event type Moved'],
  ] as const)
    for (const read of [decode, assertKnown])
      assert.throws(
        () => read(event),
        (error: unknown) => error instanceof UnknownEvent && error.message.includes(why),
      )
  assert.throws(
    () => decode(recorded('Renamed', 4, { name: 'Ada' })),
    (error: unknown) => error instanceof UnknownEvent && /does not match its schema/.test(error.message),
  )
})

test.run()
