import { structuredPatch } from 'diff'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MOST_COMPARED, changedLines, countLines } from '../../src/transcript/changed-lines.ts'
import { diffLines } from '../../src/transcript/diff.ts'

const test = suite('transcript: how many lines a change adds and removes')

const count = (lines: readonly string[], sign: string) => lines.filter((line) => line.startsWith(sign)).length

/** What the library finds, which makes the list of changes itself. */
const found = (before: readonly string[], after: readonly string[]) => {
  const [old, changed] = [before, after].map((lines) => lines.map((line) => `${line}\n`).join(''))
  const lines = structuredPatch('', '', old!, changed!).hunks.flatMap((hunk) => hunk.lines)
  return { added: count(lines, '+'), removed: count(lines, '-') }
}

test('the number of changed lines is the least possible', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 9 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const filler = 'x'.repeat(400) // so that the bound, which grows with the texts, is not reached
      const [old, changed] = [
        [filler, ...before],
        [filler, ...after],
      ]
      assert.equal(changedLines(`${old.join('\n')}\n`, `${changed.join('\n')}\n`), found(old, changed))
    }),
    { numRuns: 500 },
  )
})

test('the number of changed lines is the one that the difference shows', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c\r', ''), { maxLength: 80 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const shown = diffLines(before, after)!
      const { added, removed } = changedLines(before, after)
      const [plus, minus] = ['added', 'removed'].map((is) => shown.filter((line) => line.is === is).length)
      // Equal texts are shown as removed and added, but change nothing.
      if (added + removed > 0) assert.equal([added, removed], [plus, minus])
    }),
  )
})

test('all lines count as changed if the texts are too long to be compared', () => {
  const long = 'line\n'.repeat(MOST_COMPARED)
  assert.equal(changedLines(long, `${long}one`), { added: MOST_COMPARED + 1, removed: MOST_COMPARED })
  const other = Array.from({ length: 400 }, (_, i) => `a${i}`).join('\n')
  assert.equal(changedLines(other, other.replaceAll('a', 'b')), { added: 400, removed: 400 })
})

test('a text has one line more than ends of lines, unless it ends with one', () => {
  for (const [text, lines] of [
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n\n', 2],
  ] as const)
    assert.is(countLines(text), lines, JSON.stringify(text))
})

test.run()
