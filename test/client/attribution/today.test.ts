import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { AttributedRange } from '../../../src/client/api/attribution.ts'
import { countHunks, countLines, linesOfHunk } from '../../../src/client/attribution/counted.ts'
import { knownOf, type LocatedLine, spansOf } from '../../../src/client/attribution/today.ts'

const test = suite('lines of today')

const rangeOf = (
  start: number,
  end: number,
  call = 'c',
  evidence: AttributedRange['evidence'] = 'run',
): AttributedRange => ({
  start,
  end,
  evidence,
  trace: { id: `id-${call}`, externalId: call, agentId: 'claude-code' },
  message: { externalId: `m-${call}` },
  callId: call,
  author: { id: 'u' },
  at: 1,
})

const HASH = 'f'.repeat(16)
const located = (line: number, commit: string | undefined, hunk: number, added: number, hash = HASH): LocatedLine => ({
  line,
  commit,
  hash,
  text: '',
  added: { hunk, line: added },
})

const seen = (lines: readonly LocatedLine[], answers: readonly (readonly AttributedRange[])[]) =>
  spansOf(lines, knownOf(lines, answers)).map(({ start, end, commit, range }) => [start, end, commit, range?.callId])

test('neighbours of one call and one commit are one span, also from two hunks', () => {
  const lines = [located(1, 'x', 0, 5), located(2, 'x', 0, 6), located(3, 'x', 1, 9), located(4, 'y', 2, 1)]
  const answers = [[rangeOf(5, 6)], [rangeOf(9, 9)], [rangeOf(1, 1)]]
  assert.equal(seen(lines, answers), [
    [1, 3, 'x', 'c'],
    [4, 4, 'y', 'c'],
  ])
})

test('weak lines at the ends of what is left of a range are unknown, those within belong to it', () => {
  const lines = [
    located(1, 'x', 0, 2, ''),
    located(2, 'x', 0, 3),
    located(3, 'x', 0, 4, ''),
    located(4, 'x', 0, 5),
    located(5, 'x', 0, 6, ''),
    { ...located(6, 'x', 0, 0), added: undefined },
  ]
  assert.equal(seen(lines, [[rangeOf(1, 7)]]), [
    [1, 1, 'x', undefined],
    [2, 4, 'x', 'c'],
    [5, 6, 'x', undefined],
  ])
  assert.equal(seen([located(1, undefined, 0, 2, '')], [[rangeOf(1, 7)]]), [[1, 1, undefined, undefined]])
})

test('spans tile the lines, ends are not weak, and neighbours differ', () => {
  const aLine = fc.record({
    commit: fc.constantFrom('x', 'y'),
    hunk: fc.nat(2),
    added: fc.integer({ min: 1, max: 9 }),
    weak: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(aLine, { maxLength: 40 }), fc.nat(8), (given, from) => {
      const lines = given.map(({ commit, hunk, added, weak }, i) =>
        located(from + i, commit, hunk, added, weak ? '' : HASH),
      )
      const answers = [[rangeOf(1, 4), rangeOf(6, 6, 'd')], [rangeOf(2, 8, 'e', 'moved')], []]
      const known = knownOf(lines, answers)
      const spans = spansOf(lines, known)
      assert.equal(
        spans.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, i) => start + i)),
        lines.map(({ line }) => line),
      )
      for (const [i, { start, end, commit, range }] of spans.entries()) {
        for (let line = start; line <= end; line++) {
          assert.is(lines[line - from]!.commit, commit)
          if (range && lines[line - from]!.hash !== '') assert.is(known[line - from]!.range, range)
        }
        if (range) assert.ok([start, end].every((line) => lines[line - from]!.hash !== ''))
        const next = spans[i + 1]
        if (next) assert.ok(next.commit !== commit || next.range?.callId !== range?.callId)
      }
      const { total, weak, replaced, run, moved, unknown } = countLines(known)
      assert.is(weak + replaced + run + moved + unknown, total)
      assert.is(total, lines.length)
    }),
  )
})

test('hunks are counted by session; what was moved is not', () => {
  const hunk = { path: 'a', start: 3, added: [HASH, '', HASH, HASH, HASH, HASH] }
  const ranges = [rangeOf(3, 5, 'a'), rangeOf(7, 7, 'b', 'replaced'), rangeOf(8, 8, 'm', 'moved')]
  assert.equal(
    [...linesOfHunk(hunk, ranges)].map(({ range }) => range?.callId),
    ['a', 'a', 'a', undefined, 'b', 'm'],
  )
  assert.equal(countHunks([hunk, hunk], [ranges, []]), {
    lines: { total: 12, weak: 2, replaced: 1, run: 2, moved: 1, unknown: 6 },
    traces: [
      { trace: { id: 'id-a', externalId: 'a' }, lines: { replaced: 0, run: 2 } },
      { trace: { id: 'id-b', externalId: 'b' }, lines: { replaced: 1, run: 0 } },
    ],
  })
})

test.run()
