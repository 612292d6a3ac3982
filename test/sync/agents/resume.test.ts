import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/sync/agents/agent.ts'
import { claudeCode } from '../../../src/sync/agents/claude-code/index.ts'
import { cutsOf, inParts } from '../support/resume.ts'
import { answerLine, call, line, result, text, userLine } from '../support/session-file.ts'
import { tempFolder } from '../support/temp.ts'

const test = suite('reading goes on where it ended')
const { path: folder, remove } = tempFolder()
test.after(remove)

type Fixture = { readonly agent: Agent; readonly name: string; readonly lines: readonly string[] }

const plain = line({ type: 'user', message: { content: 'same' } })

const fixtures: readonly Fixture[] = [
  {
    agent: claudeCode,
    name: 's-1.jsonl',
    lines: [
      line({ type: 'summary', summary: 'Another session', leafUuid: 'none' }),
      line({ type: 'summary', summary: 'This one', leafUuid: 'a-2' }),
      userLine('u-1', 'Grüße 🙂\u2028'),
      answerLine('a-1', 'm-1', [text('Look'), call('t-1', 'Bash'), call('t-2', 'Read')]),
      userLine('u-2', [result('t-1', 'eins')]),
      answerLine('a-2', 'm-1', [call('t-3', 'Grep')]),
      userLine('u-2', 'a replay'),
      '',
      'no JSON',
      userLine('u-3', [result('t-3', 'drei'), result('t-2', 'zwei')]),
      plain,
      plain,
      answerLine('a-3', 'm-2', [
        { type: 'tool_use', name: 'nameless' },
        { type: 'tool_use', name: 'second' },
      ]),
      line({ type: 'system', uuid: 'y-1', subtype: 'api_error', error: 'late' }),
      answerLine('a-4', 'm-2', [text('and')], { message: { id: 'm-2', content: [text('and')] } }),
      userLine('u-4', [{ type: 'tool_result', content: 'first' }], { gitBranch: 'other' }),
      userLine('u-5', [{ type: 'tool_result', content: 'second' }, result('t-1', 'again')]),
      answerLine('a-5', 'm-1', [text('a late line of the first answer')]),
      line({ type: 'ai-title', aiTitle: 'A title' }),
      userLine('u-6', 'end', { sessionId: 's-2' }),
    ],
  },
]

for (const { agent, name, lines } of fixtures) {
  const path = join(folder, agent.id, name)
  mkdirSync(dirname(path), { recursive: true })
  const content = Buffer.from(lines.map((one) => `${one}\n`).join(''))

  test(`${agent.name}: cut anywhere, and read in two parts`, async () => {
    const { assertSame, count } = await inParts(agent, path, content)
    for (const cut of cutsOf(content)) await assertSame(cut)
    assert.ok(count.resumed * 2 > count.readings, JSON.stringify(count))
  })

  test(`${agent.name}: read in many parts`, async () => {
    const { assertSame, count } = await inParts(agent, path, content)
    await assertSame(...cutsOf(content))
    await assertSame(...cutsOf(content).filter((cut) => content[cut - 1] === 10))
    assert.ok(count.resumed * 1.2 > count.readings, JSON.stringify(count))
  })
}

test.run()
