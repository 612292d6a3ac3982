import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { uuidText, writeUuid } from '../../src/base/uuid.ts'

const bytesOf = (uuid: string): Buffer => {
  const bytes = Buffer.alloc(18)
  writeUuid(bytes, uuid, 1)
  return bytes.subarray(1, 17)
}

test('a UUID is the same as text, in upper or lower case, and as bytes', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      assert.equal(bytesOf(uuid).toString('hex'), uuid.replaceAll('-', ''))
      assert.is(uuidText(bytesOf(uuid.toUpperCase())), uuid)
    }),
  )
})

test('anything else is refused', () => {
  const uuid = randomUUID()
  const wrong = [
    '',
    uuid.slice(1),
    `${uuid}0`,
    uuid.replaceAll('-', '0'),
    `${uuid.slice(0, 35)}g`,
    `${uuid.slice(0, 35)}é`,
  ]
  for (const text of wrong)
    assert.throws(
      () => bytesOf(text),
      (error: unknown) => error instanceof RangeError,
      text,
    )
})

test.run()
