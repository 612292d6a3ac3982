import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { style } from '../../../src/server/pages/style/sheet.ts'

const test = suite('pages: style')

const selectors = style
  .replaceAll(/\/\*.*?\*\//gs, '')
  .split(/[{};]/)
  .flatMap((one) => one.split(','))
  .map((one) => one.trim())

test('no rule makes a browser compute the styles of a whole list again when a row is added or removed', () => {
  assert.ok(selectors.includes('.tools > .tool + .tool'))
  assert.equal(
    selectors.filter((one) => /[+~] \*$/.test(one)),
    [],
  )
})

test('no rule styles a pseudo-element of every element, except for the selection', () => {
  assert.equal(
    selectors.filter((one) => /^::(?:before|after|highlight|selection)/.test(one)),
    ['::selection'],
  )
})

test('the style sheet has at most 12 kB as it is sent', () => {
  const kilobytes = gzipSync(style).length / 1_000
  assert.ok(kilobytes > 5 && kilobytes <= 12, `${kilobytes} kB`)
})

test.run()
