import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { style } from '../../src/pages/style/sheet.ts'

const test = suite('pages: style')

const selectors = style
  .replaceAll(/\/\*.*?\*\//gs, '')
  .split(/[{};]/)
  .flatMap((one) => one.split(','))
  .map((one) => one.trim())

test('no rule has the styles of a whole list computed again when a row comes or goes', () => {
  assert.ok(selectors.includes('.tools > .tool + .tool'))
  assert.equal(
    selectors.filter((one) => /[+~] \*$/.test(one)),
    [],
  )
})

test('no rule has a pseudo-element of every element styled, but for the selection', () => {
  assert.equal(
    selectors.filter((one) => /^::(?:before|after|highlight|selection)/.test(one)),
    ['::selection'],
  )
})

test.run()
