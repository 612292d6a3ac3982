import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newKeptLines } from '../../../../src/client/agents/support/kept-lines.ts'
import type { ObjectLine } from '../../../../src/client/agents/support/lines.ts'

const test = suite('lines that are kept for a second reading')

const line = (number: number, text: string): ObjectLine => ({
  number,
  ended: true,
  text,
  json: {},
})

test('kept lines are dropped once they exceed the limit, and no further lines are kept', () => {
  const keeping = newKeptLines()
  keeping.add(line(1, 'x'.repeat(1_900 << 10)))
  assert.is(keeping.all()?.length, 1)
  keeping.add(line(2, 'x'.repeat(200 << 10)))
  keeping.add(line(3, '{}'))
  assert.is(keeping.all(), undefined)
})

test('kept lines can be reduced to the needed fields, also depending on the previous line', () => {
  const keeping = newKeptLines((one, before) => ({ ...one, text: `${before?.text ?? ''}${one.number}` }))
  keeping.add(line(1, '{"a":1}'))
  keeping.add(line(2, '{}'))
  assert.equal(
    keeping.all()?.map(({ text }) => text),
    ['1', '12'],
  )
})

test.run()
