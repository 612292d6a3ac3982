import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Hunk } from '../../../src/client/api/attribution.ts'
import { questionsOf } from '../../../src/client/attribution/pieces.ts'

const test = suite('questions')

const hash = fc.integer({ min: 0, max: 99 }).map((n) => (n < 20 ? '' : n.toString(16).padStart(16, '0')))
const aHunk: fc.Arbitrary<Hunk> = fc.record({
  path: fc.constantFrom('a', 'b'),
  start: fc.integer({ min: 1, max: 50 }),
  added: fc.array(hash, { minLength: 1, maxLength: 60 }),
  removed: fc.array(hash, { maxLength: 30 }),
})
const limits = { hunks: 4, lines: 25 }

test('each keeps to the limits, and together they ask for every added line once, in order', () => {
  fc.assert(
    fc.property(fc.array(aHunk, { maxLength: 12 }), (hunks) => {
      const questions = questionsOf(hunks, limits)
      for (const question of questions) {
        const lines = question.reduce((sum, { hunk }) => sum + hunk.added.length + (hunk.removed ?? []).length, 0)
        assert.ok(question.length >= 1 && question.length <= limits.hunks && lines <= limits.lines)
      }
      const asked = questions
        .flat()
        .flatMap(({ hunk, of }) => hunk.added.map((added, i) => [of, hunk.start! + i, added]))
      assert.equal(
        asked,
        hunks.flatMap(({ start, added }, of) => added.map((one, i) => [of, start! + i, one])),
      )
    }),
  )
})

test('a hunk that fits is whole, and questions are as few as their order allows', () => {
  fc.assert(
    fc.property(fc.array(aHunk, { maxLength: 12 }), (hunks) => {
      const questions = questionsOf(hunks, limits)
      const pieces = questions.flat()
      for (const [of, hunk] of hunks.entries())
        if (hunk.added.length + hunk.removed!.length <= limits.lines)
          assert.equal(
            pieces.filter((piece) => piece.of === of).map((piece) => piece.hunk),
            [hunk],
          )
      for (const [i, question] of questions.slice(1).entries()) {
        const all = [...questions[i]!, question[0]!]
        const lines = all.reduce((sum, { hunk }) => sum + hunk.added.length + (hunk.removed ?? []).length, 0)
        assert.ok(all.length > limits.hunks || lines > limits.lines, 'its first hunk had no room before')
      }
    }),
  )
})

test('parts without a wanted line are not asked for', () => {
  const hunk = { path: 'a', start: 10, added: Array.from({ length: 60 }, () => ''), removed: [] }
  const questions = questionsOf([hunk], limits, (_of, first, last) => first <= 40 && 40 <= last)
  assert.equal(
    questions.map((question) => question.map(({ hunk: { start, added } }) => [start, added.length])),
    [[[35, 25]]],
  )
})

test('a thousand lines are one question', () => {
  const hunks = Array.from({ length: 100 }, (_, i) => ({
    path: 'a',
    start: 10 * i + 1,
    added: Array.from({ length: 10 }, () => ''),
  }))
  assert.is(questionsOf(hunks, { hunks: 500, lines: 5_000 }).length, 1)
})

test.run()
