import { globSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Agent, Session, SessionMessage } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { copilotCli } from '../../../src/client/agents/copilot-cli/index.ts'
import { cursor } from '../../../src/client/agents/cursor/index.ts'
import { geminiCli } from '../../../src/client/agents/gemini-cli/index.ts'
import { opencode } from '../../../src/client/agents/opencode/index.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { readSessions } from '../support/read-session.ts'
import {
  type Answer,
  type Sums,
  ofClaudeCode,
  ofCodex,
  ofCopilotCli,
  ofGeminiCli,
  ofOpencode,
  ofPi,
  total,
} from '../support/second-reading.ts'
import { sharedData } from '../support/shared-data.ts'

const test = suite('what the answers of recorded sessions have used, computed a second way')

/** The messages of a session, and of the sub-agents whose lines its file has. */
const messagesOf = async (session: Session): Promise<readonly SessionMessage[]> => {
  const within = await Promise.all(
    (session.within ?? []).map(async (one) => messagesOf(await one.read({ onMalformed: () => {} }))),
  )
  return [...(await Array.fromAsync(session.messages())), ...within.flat()]
}

const read = async (path: string, agent: Agent): Promise<Sums> => {
  const sessions = await readSessions(path, agent)
  const messages = await Promise.all(sessions.map(({ session }) => messagesOf(session)))
  return total(
    messages.flat().map(({ usage = {} }) => {
      const {
        inputTokens = 0,
        outputTokens = 0,
        cacheReadTokens = 0,
        cacheWriteTokens = 0,
        reasoningTokens = 0,
      } = usage
      return { sums: [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens] }
    }),
  )
}

const data = sharedData()
if (!data) test.skip('no recorded sessions beside the repository')

for (const [agent, pattern, second] of [
  [claudeCode, '{claude-code,agents/claude}/**/*.jsonl', ofClaudeCode],
  [codex, 'agents/codex/**/*.jsonl', ofCodex],
  [geminiCli, 'agents/gemini/**/*.{json,jsonl}', ofGeminiCli],
  [pi, 'agents/pi/**/*.jsonl', ofPi],
  [copilotCli, 'agents/copilot/**/*.jsonl', ofCopilotCli],
  [opencode, 'agents/opencode/**/session/**/*.json', ofOpencode],
  [cursor, 'agents/cursor/**/*.jsonl', () => []],
] as const satisfies readonly (readonly [Agent, string, (path: string) => readonly Answer[]])[])
  for (const file of data ? globSync(pattern, { cwd: data }).sort() : [])
    test(file, async () => {
      const path = join(data!, file)
      assert.equal(await read(path, agent), total(second(path)))
    })

test.run()
