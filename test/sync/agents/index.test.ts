import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent } from '../../../src/sync/agents/agent.ts'
import { claudeCode } from '../../../src/sync/agents/claude-code/index.ts'
import { agentOf } from '../../../src/sync/agents/index.ts'

const test = suite('sync/agents')

const other: Agent = { ...claudeCode, id: 'other', isSessionFile: (path) => path.endsWith('.session') }
const idOf = (path: string) => agentOf([claudeCode, other], path).id

test('a file is read by the agent that takes its path for a session file', () => {
  assert.is(idOf('/x/a.session'), 'other')
  assert.is(idOf('/x/a.jsonl'), claudeCode.id)
})

test('any other file that is named is read by the first agent', () => assert.is(idOf('/x/a.txt'), claudeCode.id))

test.run()
