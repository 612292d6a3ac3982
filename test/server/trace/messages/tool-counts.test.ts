import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newToolCounts, shownToolCounts } from '../../../../src/server/trace/messages/tool-counts.ts'

const test = suite('trace/messages/tool-counts')

/** Counts as answers show them. */
const shown = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  JSON.parse(shownToolCounts(JSON.stringify(counts)))

const total = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, n) => sum + n, 0)

test('500 tools have their own counts, all others share one', () => {
  const counts = newToolCounts({})
  for (let i = 0; i < 2_000; i++) counts.add(`t${i % 1_000}`)
  const found = shown(counts.all())
  assert.is(Object.keys(found).length, 501)
  assert.equal([found['t0'], found['t499'], found['other']], [2, 2, 1_000])
  assert.not(Object.hasOwn(found, 't500'))
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

test('a tool whose calls were counted as other gets a count of its own for all of them once there is room', () => {
  const full = newToolCounts({})
  for (let i = 0; i < 500; i++) full.add(`t${i}`)
  assert.equal(['late', 'later', 'late'].map(full.add), ['late', 'later', 'late'])
  assert.is(shown(full.all())['other'], 3)
  const roomier = newToolCounts(full.all())
  roomier.remove('t7')
  const one = shown(roomier.all())
  assert.equal([one['late'], one['later'], one['other'], one['t7']], [2, undefined, 1, undefined])
  const empty = newToolCounts(roomier.all())
  for (let i = 0; i < 500; i++) if (i !== 7) empty.remove(`t${i}`)
  assert.equal(shown(empty.all()), { late: 2, later: 1 })
  for (const name of ['late', 'later', 'late']) empty.remove(name)
  assert.equal(empty.all(), {})
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
