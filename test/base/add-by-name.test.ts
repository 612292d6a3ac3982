import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { addByName } from '../../src/base/add-by-name.ts'

const test = suite('records of numbers')

test('are added name by name, and stay as they are', () => {
  const [one, other] = [
    { lines: 1, files: 2 },
    { lines: 10, files: 20 },
  ]
  assert.equal(addByName(one, other), { lines: 11, files: 22 })
  assert.equal(
    [one, other],
    [
      { lines: 1, files: 2 },
      { lines: 10, files: 20 },
    ],
  )
})

test.run()
