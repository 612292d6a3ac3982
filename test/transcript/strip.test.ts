import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { strip } from '../../src/transcript/html/strip.ts'
import type { CallCounts } from '../../src/transcript/html/ticks.ts'

const test = suite('transcript: strip')

/** The kinds of the ticks in order: `p` a prompt, `w` a call, `e` an edit, `x` a failed call. */
const ticks = (segments: readonly CallCounts[]): string =>
  [...strip(segments).source.matchAll(/<rect class="(\w)"/g)].map(([, kind]) => kind).join('')

test('each prompt is followed by its calls, edits and failed calls', () => {
  assert.is(
    ticks([
      [4, 1, 1],
      [0, 0, 0],
      [2, 0, 2],
    ]),
    'pwwexppxx',
  )
})

test('a tick of several calls is higher than that of one', () => {
  const heights = (segments: readonly CallCounts[]) =>
    [...strip(segments).source.matchAll(/class="w"[^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height))
  assert.is(Math.max(...heights([[5, 0, 0]])), 6)
  assert.ok(Math.max(...heights([[500, 0, 0]])) > 6)
})

const number = fc.oneof(fc.nat(5), fc.nat(2_000), fc.nat(1_000_000))
const segment = fc
  .tuple(number, number, number)
  .map(([work, edits, failed]): CallCounts => [work + edits + failed, edits, failed])

test('the line of any session has about sixty ticks at most, the first for a prompt', () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 64 }), (segments) => {
      const shown = ticks(segments)
      assert.ok(shown.length <= 96, String(shown.length))
      assert.is(shown[0], 'p')
      const some = (at: number) => segments.some((one) => one[at]! > 0)
      assert.equal([shown.includes('e'), shown.includes('x')], [some(1), some(2)])
    }),
  )
})

test.run()
