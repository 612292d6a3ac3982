import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { watchLineReporter } from '../../../src/client/watch/report.ts'

test('a watch says once of each session that parts of unknown kinds are left out', () => {
  const [out, err]: [string[], string[]] = [[], []]
  const to = (lines: string[]) => ({ write: (text: string) => lines.push(text) }) as unknown as NodeJS.WriteStream
  const report = watchLineReporter({ out: to(out), err: to(err) })
  const leftOut = (file: string, kind: string, title?: string) =>
    report({
      ...{ type: 'problem', kind: 'kinds_left_out', file, parts: 1, kinds: [kind] },
      ...{ message: `1 part of unknown kinds left out: ${kind}`, ...(title === undefined ? {} : { title }) },
    })
  leftOut('/s/a', 'dream', 'Add a test')
  leftOut('/s/a', 'song', 'Add a test')
  leftOut('/s/b', 'dream')
  assert.equal(err, [
    '"Add a test": 1 part of unknown kinds left out: dream\n',
    '/s/b: 1 part of unknown kinds left out: dream\n',
  ])
  assert.equal(out, [])
})

test.run()
