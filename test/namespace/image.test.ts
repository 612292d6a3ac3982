import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { imageTypeOf } from '../../src/namespace/image.ts'
import { jpeg, png, webp } from '../support/pictures.ts'

const test = suite('pictures')

for (const [bytes, type] of [
  [png, 'image/png'],
  [jpeg, 'image/jpeg'],
  [webp, 'image/webp'],
] as const) {
  test(`a ${type} is known by its content`, () => assert.is(imageTypeOf(bytes), type))
  test(`a ${type} that is cut off is none`, () => {
    for (const length of [0, 1, 4, 12, 20]) assert.is(imageTypeOf(bytes.subarray(0, length)), undefined)
  })
}

for (const text of ['', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', '<script>', '%PDF-1.7', 'BM']) {
  test(`${text || 'nothing'} is no picture`, () => {
    assert.is(imageTypeOf(Buffer.from(text)), undefined)
    assert.is(imageTypeOf(Buffer.from(text.padEnd(100, ' '))), undefined)
  })
}

test('a signature alone makes no picture', () => {
  for (const bytes of [png, jpeg, webp]) {
    assert.is(imageTypeOf(Buffer.concat([bytes.subarray(0, 8), Buffer.alloc(100, '<script>')])), undefined)
  }
})

test.run()
