import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { descriptionOf } from '../../../src/client/attribution/description.ts'

const test = suite('a description of changes')

test('no text of a session is markup, closes an issue, mentions somebody or becomes a link', () => {
  const text = descriptionOf({
    commits: 1,
    lines: { total: 1, weak: 0, replaced: 0, run: 1, moved: 0, unknown: 0 },
    sessions: [
      {
        trace: { id: 'trace', externalId: 'one', agentId: '@agent', title: 'Closes #1](http://x.example) <b>' },
        author: { id: 'user', displayName: '@ada' },
        url: 'https://codehost.example/one',
        lines: { replaced: 0, run: 1 },
        prompts: [
          'Fixes #12, team/app#5, GH-7 and !8, says @bob of https://x.example/issues/9',
          '# heading',
          '[ ] task',
        ],
      },
    ],
  })
  const empty = '&#8203;'
  assert.match(
    text,
    `- [Closes #${empty}1\\](http:${empty}//x.example) \\<b>](<https://codehost.example/one>): @${empty}agent, @${empty}ada, 1 line\n` +
      `  - Fixes #${empty}12, team/app#${empty}5, GH-${empty}7 and !${empty}8, says @${empty}bob of https:${empty}//x.example/issues/9\n` +
      '  - \\# heading\n  - \\[ ] task\n',
  )
})

test.run()
