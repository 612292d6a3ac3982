import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { clockText, shortDay, shortTime, timeoutText } from '../../src/cli/time-text.ts'

const test = suite('times and durations as text')
const src = join(import.meta.dirname, '..', '..', 'src')

test('a time is shown as a date with hour and minute in the local time zone', () => {
  assert.is(shortTime(new Date(2027, 1, 21, 19, 41, 59).getTime()), 'Feb 21, 2027, 19:41')
  assert.is(shortTime(new Date(1999, 11, 1, 0, 5).getTime()), 'Dec 1, 1999, 00:05')
  assert.is(shortDay(new Date(2027, 1, 21, 19, 41).getTime()), 'Feb 21, 2027')
})

test('a number that was parsed as raw JSON is accepted, and one out of range is shown unchanged', () => {
  const at = new Date(2027, 1, 21, 19, 41).getTime()
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => number }
  assert.is(shortTime(rawJSON(`${at}.0`)), 'Feb 21, 2027, 19:41')
  assert.is(shortTime(1e300), '1e+300')
  assert.is(shortDay(1e300), undefined)
})

test('a duration is shown in minutes and seconds, and in hours from one hour on', () => {
  const shown = [0, 0.4, 59.6, 61, 3_599.4, 3_599.6, 36_061].map(clockText)
  assert.equal(shown, ['0:00', '0:00', '1:00', '1:01', '59:59', '1:00:00', '10:01:01'])
})

test('a timeout is shown in words', () => {
  assert.equal([10_000, 60_000, 120_000, 600_000, 7_400].map(timeoutText), [
    ...['10 seconds', '60 seconds', '2 minutes', '10 minutes', '8 seconds'],
  ])
})

/** Files that need another format. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  'cli/time-text.ts': 'a log file, and the audit log in a pipe, need exact times',
  'client/agents/codex/write.ts': 'the files of agents have exact times',
  'client/agents/support/writer.ts': 'the files of agents have exact times',
  'client/tail/message-lines.ts': 'messages show only the time, below a heading with the day',
}

test('no command formats times by itself', () => {
  const own = /\.to(?:ISO|UTC|Date|Time|LocaleDate|LocaleTime|GMT)String\(|DateTimeFormat/
  const found = globSync('{cli,commands,client}/**/*.ts', { cwd: src }).filter((file) =>
    own.test(readFileSync(join(src, file), 'utf8')),
  )
  assert.equal(found.sort(), Object.keys(OTHER_FORMS))
})

test.run()
