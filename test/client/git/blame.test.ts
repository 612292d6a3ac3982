import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readBlame } from '../../../src/client/git/blame.ts'

const test = suite('what git blame prints')

async function* lines(text: string) {
  for (const line of text.split('\n')) yield Buffer.from(line)
}

const details = (at: number) => `author A
author-mail <a@example.com>
author-time ${at}
author-tz +0200
committer C
committer-time ${at + 1}
committer-tz +0000
summary filename not/a/path`

test('a line has its commit, its number there, its paths and dates, also where git does not repeat them', async () => {
  const [one, two, none] = ['1'.repeat(40), '2'.repeat(64), '0'.repeat(40)]
  const text = `${one} 5 1 2
${details(100)}
previous ${two} old name.ts
filename new.ts
	author-time 7
${one} 6 2
	\tindented
${two} 1 3 1
${details(200)}
boundary
filename "a\\nb.ts"
	
${one} 9 4 1
previous ${two} other.ts
filename moved.ts
	text\r
${none} 5 5 1
${details(300)}
previous ${one} new.ts
filename new.ts
	mine`
  const found = await Array.fromAsync(readBlame(lines(text)), ({ text: line, ...rest }) => ({
    ...rest,
    text: String(line),
  }))
  const first = { sha: one, at: 100_000, until: 101_000 }
  assert.equal(found, [
    { line: 1, original: 5, path: 'new.ts', previousPath: 'old name.ts', ...first, text: 'author-time 7' },
    { line: 2, original: 6, path: 'new.ts', previousPath: 'old name.ts', ...first, text: '\tindented' },
    { line: 3, original: 1, path: 'a\nb.ts', previousPath: undefined, sha: two, at: 200_000, until: 201_000, text: '' },
    { line: 4, original: 9, path: 'moved.ts', previousPath: 'other.ts', ...first, text: 'text\r' },
    {
      line: 5,
      original: 5,
      path: 'new.ts',
      previousPath: 'new.ts',
      sha: undefined,
      at: 300_000,
      until: 301_000,
      text: 'mine',
    },
  ])
})

test.run()
