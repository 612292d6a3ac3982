import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseTile, tileIndexPath, tileWidth } from '../../../src/server/proof/tiles.ts'

const test = suite('proof/tiles')

test('an index is written in groups of three digits', () => {
  assert.is(tileIndexPath(0), '000')
  assert.is(tileIndexPath(67), '067')
  assert.is(tileIndexPath(1_234_067), 'x001/x234/067')
})

test('paths that were written are read, full or partial', () =>
  fc.assert(
    fc.property(fc.nat(63), fc.maxSafeNat(), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
      const path = `${tileIndexPath(index)}${width < 256 ? `.p/${width}` : ''}`
      assert.equal(parseTile(`${level}`, path), { level, index, width })
    }),
  ))

test('another spelling of a path is not read', () => {
  for (const path of [
    '',
    '0',
    '0000',
    'x000',
    'x000/005',
    '1000',
    '001/000',
    'abc',
    '000.p/0',
    '000.p/256',
    '000.p/01',
  ])
    assert.is(parseTile('0', path), undefined, path)
  for (const path of ['000.p', '000.p/', '000.p/5/', '/000', '000/', 'x999/'.repeat(6) + '999'])
    assert.is(parseTile('0', path), undefined, path)
  for (const level of ['64', '00', '-1', 'x', 'entries', '', '1.0', '1e1'])
    assert.is(parseTile(level, '000'), undefined, level)
})

test('a tree of 70,000 has the tiles of the example in the specification', () => {
  assert.is(tileWidth(0, 272, 70_000), 256)
  assert.is(tileWidth(0, 273, 70_000), 112)
  assert.is(tileWidth(0, 274, 70_000), 0)
  assert.is(tileWidth(1, 0, 70_000), 256)
  assert.is(tileWidth(1, 1, 70_000), 17)
  assert.is(tileWidth(2, 0, 70_000), 1)
  assert.is(tileWidth(3, 0, 70_000), 0)
  assert.is(tileWidth(63, 0, 70_000), 0)
  assert.is(tileWidth(1, 0, 256), 1)
})

test.run()
