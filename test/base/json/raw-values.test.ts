import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rawItems, rawItemsInSteps, rawMembers, rawMembersInSteps } from '../../../src/base/json/raw-values.ts'

const test = suite('json: values as slices of text')

test('members and items are those of the value, in its own text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify({ first: value, '"\\': [value, '\\"', 1.5e300] }, null, indent)
      const members = [...rawMembers(text)]
      assert.equal(
        members.map(({ key, value }) => [key, JSON.parse(value)]),
        Object.entries(JSON.parse(text) as object),
      )
      assert.equal(
        [...rawItems(members[1]!.value)].map((item) => JSON.parse(item) as unknown),
        JSON.parse(members[1]!.value),
      )
    }),
  )
})

test('a long value that is found in steps is the same', () => {
  const long = {
    escapes: '\\"'.repeat(500_000),
    lists: Array.from({ length: 2_000 }, () => JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`) as unknown),
    last: [1, 'x'],
  }
  const text = JSON.stringify(long)
  const steps = [...rawMembersInSteps(text)]
  assert.ok(steps.length >= text.length / (256 * 1_024), `${steps.length}`)
  assert.equal(
    steps.filter((step) => step !== undefined),
    [...rawMembers(text)],
  )
  const list = JSON.stringify(Object.values(long))
  assert.equal(
    [...rawItemsInSteps(list)].filter((step) => step !== undefined),
    [...rawItems(list)],
  )
})

test.run()
