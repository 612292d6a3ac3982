import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { shortDay, shortTime } from '../../src/cli/short-time.ts'

const test = suite('times as people are shown them')
const src = join(import.meta.dirname, '..', '..', 'src')

test('a time is a day and a minute in the local zone, whatever the year', () => {
  assert.is(shortTime(new Date(2027, 1, 21, 19, 41, 59).getTime()), 'Feb 21, 2027, 19:41')
  assert.is(shortTime(new Date(1999, 11, 1, 0, 5).getTime()), 'Dec 1, 1999, 00:05')
  assert.is(shortDay(new Date(2027, 1, 21, 19, 41).getTime()), 'Feb 21, 2027')
})

test('a number that was parsed exactly is a time, too; one that is none is shown as it is', () => {
  const at = new Date(2027, 1, 21, 19, 41).getTime()
  const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => number }
  assert.is(shortTime(rawJSON(`${at}.0`)), 'Feb 21, 2027, 19:41')
  assert.is(shortTime(1e300), '1e+300')
  assert.is(shortDay(1e300), undefined)
})

/** Where a time has another form for a reason. */
const OTHER_FORMS: Readonly<Record<string, string>> = {
  'cli/local-time.ts': 'a log in a file, and the audit log in a pipe, are exact',
  'tail/message-lines.ts': 'under the day stands only the time of a message',
}

test('no command prints one in a form of its own', () => {
  const own = /\.to(?:ISO|UTC|Date|Time|LocaleDate|LocaleTime|GMT)String\(|DateTimeFormat/
  const found = globSync('{cli,commands,sync,tail}/**/*.ts', { cwd: src }).filter((file) =>
    own.test(readFileSync(join(src, file), 'utf8')),
  )
  assert.equal(found.sort(), Object.keys(OTHER_FORMS))
})

test.run()
