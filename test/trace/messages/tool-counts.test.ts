import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newToolCounts } from '../../../src/trace/messages/tool-counts.ts'

const test = suite('trace/messages/tool-counts')

const total = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, n) => sum + n, 0)

test('500 tools have their own counts, all others share one', () => {
  const counts = newToolCounts({})
  for (let i = 0; i < 2_000; i++) counts.add(`t${i % 1_000}`)
  assert.is(Object.keys(counts.all()).length, 501)
  assert.equal([counts.all()['t0'], counts.all()['t499'], counts.all()['other']], [2, 2, 1_000])
  assert.not(Object.hasOwn(counts.all(), 't500'))
})

test('the counts stay below 16 kB for any names', () => {
  const counts = newToolCounts({})
  for (let i = 0; i < 600; i++) counts.add(`${i}_${'ﷺ'.repeat(250)}`)
  assert.ok(Buffer.byteLength(JSON.stringify(counts.all())) < 15_500)
  assert.is(total(counts.all()), 600)
})

test('a call is subtracted from the count that it was added to', () => {
  const name = fc.integer({ min: 0, max: 700 }).map((i) => (i === 700 ? 'other' : `tool_${i}`))
  fc.assert(
    fc.property(fc.array(name, { maxLength: 3_000, size: 'max' }), fc.nat(), (calls, seed) => {
      const counts = newToolCounts({})
      const names = calls.map(counts.add)
      assert.is(total(counts.all()), calls.length)
      const back = names.map((name, i) => [Math.sin(seed + i), name] as const).sort(([a], [b]) => a - b)
      for (const [, name] of back) counts.remove(name)
      assert.equal(counts.all(), {})
    }),
    { numRuns: 50 },
  )
})

test('names of members that every object has are counted like others', () => {
  const counts = newToolCounts({})
  for (const name of ['constructor', 'toString']) counts.add(name)
  assert.equal(Object.entries(counts.all()).sort(), [
    ['constructor', 1],
    ['toString', 1],
  ])
})

test.run()
