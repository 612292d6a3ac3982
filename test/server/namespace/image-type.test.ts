import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { detectImageType } from '../../../src/server/namespace/image-type.ts'
import { jpeg, png, webp } from '../../support/pictures.ts'

const test = suite('pictures')

for (const [bytes, type] of [
  [png, 'image/png'],
  [jpeg, 'image/jpeg'],
  [webp, 'image/webp'],
] as const) {
  test(`a ${type} is known by its content`, () => assert.is(detectImageType(bytes), type))
  test(`a ${type} that is cut off is not a picture`, () => {
    for (const length of [0, 1, 4, 12, 20]) assert.is(detectImageType(bytes.subarray(0, length)), undefined)
  })
}

for (const text of ['', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'GIF89a', '<script>', '%PDF-1.7', 'BM']) {
  test(`${text || 'nothing'} is not a picture`, () => {
    assert.is(detectImageType(Buffer.from(text)), undefined)
    assert.is(detectImageType(Buffer.from(text.padEnd(100, ' '))), undefined)
  })
}

test('a signature alone is not a picture', () => {
  for (const bytes of [png, jpeg, webp]) {
    assert.is(detectImageType(Buffer.concat([bytes.subarray(0, 8), Buffer.alloc(100, '<script>')])), undefined)
  }
})

const sized = (bytes: Buffer, write: (copy: Buffer) => void) => {
  const copy = Buffer.from(bytes)
  write(copy)
  return copy
}

test('a picture that claims to be huge is refused', () => {
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc2]))
  assert.ok(frame > 0)
  const claims: Record<string, (width: number) => Buffer> = {
    png: (width) => sized(png, (copy) => copy.writeUInt32BE(width, 16)),
    'png, high': (height) => sized(png, (copy) => copy.writeUInt32BE(height, 20)),
    jpeg: (width) => sized(jpeg, (copy) => copy.writeUInt16BE(width, frame + 7)),
    webp: (width) => sized(webp, (copy) => copy.writeUInt32LE((width - 1) >>> 0, 21)),
  }
  for (const [name, of] of Object.entries(claims)) {
    assert.ok(detectImageType(of(4_096)), name)
    assert.is(detectImageType(of(4_097)), undefined, name)
  }
  assert.is(detectImageType(claims.png!(2 ** 31)), undefined)
  assert.is(detectImageType(claims.png!(0)), undefined)
})

test.run()
