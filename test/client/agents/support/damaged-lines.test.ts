import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { recordsIn } from '../../../../src/client/agents/support/damaged-lines.ts'
import type { Json } from '../../../../src/client/agents/support/json.ts'
import { runs } from '../../../support/runs.ts'

const test = suite('records in a damaged line')

const isRecord = ({ type, id }: Json): boolean => typeof type === 'string' && typeof id === 'number'
const found = (line: string) => {
  const { records, lost } = recordsIn(line, isRecord)
  return { ids: records.map(({ json }) => json['id']), lost }
}

const one = '{"type":"m","id":1,"message":{"type":"text","text":"if (a) { \\"b\\" }"},"list":[{"type":"x","id":"no"}]}'
const two = '{"type":"m","id":2,"text":"ü"}'

test('two records on one line are both taken, and nothing is lost', () => {
  assert.equal(found(one + two), { ids: [1, 2], lost: 0 })
  assert.equal(found(`${one} \t ${two}`), { ids: [1, 2], lost: 0 })
  assert.equal(
    recordsIn(one + two, isRecord).records.map(({ text }) => text),
    [one, two],
  )
})

test('of what stands before or behind a record only that is lost, in bytes', () => {
  assert.equal(found(`\0\0\0${two}`), { ids: [2], lost: 3 })
  assert.equal(found(`${two} ü`), { ids: [2], lost: 2 })
  assert.equal(found(`} "${two}, ${one}]`), { ids: [2, 1], lost: 5 })
})

test('a record behind the beginning of another one is taken, wherever that was cut', () => {
  for (let cut = 1; cut < one.length; cut++)
    assert.equal(
      found(one.slice(0, cut) + two),
      { ids: [2], lost: Buffer.byteLength(one.slice(0, cut).trim()) },
      `cut at ${cut}`,
    )
})

test('a record behind one that was cut in an escape sequence is taken', () => {
  for (const cut of ['{"a":"\\', '{"a":"\\u00', '{"a":12', '{"a":tr', '{"type":[1,', '{"a"', '{"a":"b"'])
    assert.equal(found(cut + two), { ids: [2], lost: cut.length }, cut)
})

test('parts of a record that was cut are not records', () => {
  for (let cut = 1; cut < one.length; cut++) assert.equal(found(one.slice(0, cut)).ids, [], `cut at ${cut}`)
  for (let cut = 1; cut < one.length; cut++) assert.equal(found(one.slice(cut)).ids, [], `from ${cut}`)
  const nested = '{"type":"m","id":1,"data":{"inner":{"type":"m","id":3}},"text":'
  assert.equal(found(nested).ids, [])
  assert.equal(found(nested + two).ids, [2])
})

test('lines without a record are lost as a whole', () => {
  for (const line of ['[1]', '7', 'null', '"{}"', '{"a":1}{"b":2}', '{', '{{{{', '{"a":{"b":[{"c":'])
    assert.equal(found(line), { ids: [], lost: line.length })
})

test('what JSON does not allow ends a record', () => {
  const bad = [
    '{"a":"\t"}',
    '{"a":01}',
    '{"a":1,}',
    '{"a" 1}',
    '{"a":"\\x"}',
    '{"a":tru}',
    '{a:1}',
    '{"a":[1,]}',
    '{"a":1]}',
  ]
  for (const line of bad) {
    assert.throws(() => JSON.parse(line))
    assert.equal(found(line + two), { ids: [2], lost: line.length }, line)
  }
})

test('a line of many records, or of many beginnings, is read in one go', () => {
  const { ids } = found(two.repeat(20_000))
  assert.is(ids.length, 20_000)
  assert.equal(found('{"type":'.repeat(200_000) + two).ids, [2])
  assert.equal(found(one.slice(0, 40).repeat(20_000) + two).ids, [2])
})

const record = fc
  .tuple(fc.nat(), fc.jsonValue({ maxDepth: 3 }))
  .map(([id, value]) => JSON.stringify({ type: 'm', id, value }))

test('for any records, those that are whole are taken, and all that was cut is lost', () =>
  fc.assert(
    fc.property(fc.array(fc.tuple(record, fc.nat(), fc.boolean()), { maxLength: 5 }), record, (before, last) => {
      const parts = before.map(([text, number, isWhole]) =>
        isWhole ? text : text.slice(0, 1 + (number % (text.length - 1))),
      )
      const whole = [...parts.filter((_, index) => before[index]![2]), last]
      const { records, lost } = recordsIn([...parts, last].join(''), isRecord)
      assert.equal(
        records.map(({ text }) => text),
        whole,
      )
      const all = Buffer.byteLength(parts.join('')) + Buffer.byteLength(last)
      const kept = whole.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
      assert.ok(lost <= all - kept && lost >= all - kept - 2 * parts.length, `${lost} of ${all}`)
    }),
    { numRuns: runs(300) },
  ))

test.run()
