import fc from 'fast-check'
import { v5 as expected } from 'uuid'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { v5 } from '../../src/base/ids.ts'

test('an id is the same as that of a library, whatever ids were made before', () => {
  const namespaces = fc.constantFrom('5b1f0e3c-5d0b-5a8e-9f3e-6d0c7a52c1f4', '0189aaaa-0000-7000-8000-000000000000')
  const names = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('é'.repeat(400), 'x'.repeat(5_000)))
  fc.assert(
    fc.property(fc.array(fc.tuple(names, namespaces)), (made) => {
      for (const [name, namespace] of made) assert.is(v5(name, namespace), expected(name, namespace))
    }),
  )
})

test('after a namespace that is no UUID the ids are still right', () => {
  const namespace = '5b1f0e3c-5d0b-5a8e-9f3e-6d0c7a52c1f4'
  assert.is(v5('a', namespace), expected('a', namespace))
  assert.throws(() => v5('a', `${namespace.slice(1)}x`))
  assert.is(v5('a', namespace), expected('a', namespace))
})

test.run()
