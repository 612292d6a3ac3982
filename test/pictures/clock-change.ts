import { called, text } from '../browser/support/seed.ts'
import { type Said, answer, edit, prompt, read, shell, thought } from './session.ts'

/** The session whose page is in a picture: a test fails, a sub-agent finds the reason, and the test passes after the change. */

export const FOLDER = '/home/mira/ferries'
export const SEARCH = 'call-search'

const BOARD = `${FOLDER}/src/board.ts`
const PRINT = `${FOLDER}/src/print.ts`

const failing = `Exit code 1
✖ a day has the departures of its timetable (3.1 ms)
  + [ '05:10', '06:40', '08:00' ]
  - [ '06:10', '07:40', '09:00' ]`

const before = `  const offset = offsetOf(line.zone, new Date())
  return line.times.map((time) => new Date(\`\${day}T\${time}\${offset}\`))`

const after = '  return line.times.map((time) => momentOf(day, time, line.zone))'

const board = `import type { Line } from './lines.ts'
import { offsetOf } from './zones.ts'

/** The departures of a day, in the order of the timetable. */
export const departuresOn = (day: string, line: Line): Date[] => {
${before}
}
`

const print = `import { departuresOn } from './board.ts'

export const printedPage = (line: Line, days: readonly string[]) => days.map((day) => departuresOn(day, line))
`

const lastTest = "  assert.deepEqual(shown('2026-10-24'), ['06:10', '07:40', '09:00'])\n})\n"

const newTest = `
test('the night in which the clocks go back moves no departure', () => {
  clock.set('2026-10-25T00:30+02:00')
  assert.deepEqual(shown('2026-10-25'), ['06:10', '07:40', '09:00'])
})
`

const found = 'One place: `departuresOn` in `src/board.ts`. It takes the offset of *now* for the whole day.'

export const said: readonly Said[] = [
  prompt(0, 'Since the clocks went back on Sunday a test fails. Why? Please mend it.'),
  answer(7, ...shell('npm test', failing, 'error')),
  answer(
    9,
    thought(7, 'An hour early in the morning only: something takes the offset of another moment.'),
    text('All ferries of the morning are an hour early. A sub-agent looks for the place.'),
    ...called(
      SEARCH,
      'Agent',
      {
        subagent_type: 'Explore',
        description: 'Find where local times become moments',
        prompt: 'Find every place where a local time of a timetable becomes a moment.',
      },
      found,
    ),
  ),
  answer(31, text('It takes the offset of *now*, and each departure needs its own:'), ...edit(BOARD, before, after)),
  answer(11, ...shell('npm test', 'tests 112, passed 112, failed 0')),
  answer(9, text('All 112 tests pass. It was wrong all year, and showed when the clocks changed.')),
  prompt(95, 'Then it needs a test that fails on any day. Does the printed timetable have the same mistake?'),
  answer(16, ...read(PRINT, print)),
  answer(21, ...edit(`${FOLDER}/test/board.test.ts`, lastTest, lastTest + newTest)),
  answer(13, ...shell('git stash push src && npm test; git stash pop', 'tests 113, passed 111, failed 2')),
  answer(12, ...shell('npm test', 'tests 113, passed 113, failed 0')),
  answer(
    9,
    text('The new test fails without the change, and passes with it. The printed timetable calls `departuresOn`, too.'),
  ),
  prompt(60, 'Commit it, with the reason in the message.'),
  answer(
    14,
    ...shell(
      "git commit --all --message 'Take the offset of each departure, not of now'",
      '[dst 5f1c2e7] Take the offset of each departure, not of now\n 2 files changed, 6 insertions(+), 2 deletions(-)',
    ),
  ),
  answer(6, text('Committed as `5f1c2e7`.')),
]

/** What its sub-agent did. */
export const search: readonly Said[] = [
  prompt(0, 'Find every place where a local time of a timetable becomes a moment.'),
  answer(6, ...shell("rg --line-number 'new Date\\(' src", 'src/board.ts:6\nsrc/board.ts:7')),
  answer(8, ...read(BOARD, board), ...read(PRINT, print)),
  answer(9, text(found)),
]
