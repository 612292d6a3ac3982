import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { linesAgain, newKeptLines } from '../../../../src/sync/agents/support/kept-lines.ts'
import { beginning, type ObjectLine } from '../../../../src/sync/agents/support/lines.ts'

const test = suite('lines that are kept for a second reading')

const line = (number: number, offset: number, text: string): ObjectLine => ({
  number,
  offset,
  size: text.length,
  ended: true,
  text,
  json: {},
})

test('kept lines are yielded unchanged, and the position moves with them, also past the last one', () => {
  const [first, second] = [line(1, 0, '{}'), line(4, 30, '{"a":1}')]
  const keeping = newKeptLines()
  keeping.add(first)
  keeping.add(second)
  const kept = keeping.all({ line: 6, offset: 50 })
  const at = beginning()
  const places = [...linesAgain(kept!, at)].map((one) => one.number)
  assert.equal(places, [1, 4])
  assert.equal(at, { line: 6, offset: 50 })

  const [, ...rest] = linesAgain(kept!, at)
  assert.equal(rest, [second])
  const half = linesAgain(kept!, at)
  half.next()
  half.next()
  assert.equal(at, { line: 4, offset: 30 })
})

test('kept lines are dropped once they exceed the limit, and no further lines are kept', () => {
  const keeping = newKeptLines()
  keeping.add(line(1, 0, 'x'.repeat(1_900 << 10)))
  assert.ok(keeping.all(beginning()))
  keeping.add(line(2, 1_900 << 10, 'x'.repeat(200 << 10)))
  keeping.add(line(3, 2_100 << 10, '{}'))
  assert.is(keeping.all(beginning()), undefined)
})

test('kept lines can be reduced to the needed fields, also depending on the previous line', () => {
  const keeping = newKeptLines((one, before) => ({ ...one, text: `${before?.text ?? ''}${one.number}` }))
  keeping.add(line(1, 0, '{"a":1}'))
  keeping.add(line(2, 15, '{}'))
  const { lines } = keeping.all(beginning())!
  assert.equal(
    lines.map(({ text }) => text),
    ['1', '12'],
  )
})

test.run()
