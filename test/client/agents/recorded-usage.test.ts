import { globSync, readFileSync } from 'node:fs'
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
import { sharedData } from '../support/shared-data.ts'

const test = suite('what the answers of recorded sessions have used, computed a second way')

/** Input that was not cached, output with thinking, cache reads, cache writes, thinking. */
type Sums = readonly [input: number, output: number, read: number, written: number, thinking: number]
const NONE: Sums = [0, 0, 0, 0, 0]

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- lines of agents, of any shape
type Line = any

const add = (one: Sums, other: Sums): Sums => one.map((value, i) => value + other[i]!) as unknown as Sums
const total = (all: Iterable<Sums>): Sums => [...all].reduce(add, NONE)

const linesOf = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })

/** Each line of an answer repeats its numbers; the one with most output counts. */
const ofClaudeCode = (path: string): Sums => {
  const answers = new Map<string, Sums>()
  for (const [i, { type, message, uuid }] of linesOf(path).entries()) {
    if (type !== 'assistant' || !message?.usage) continue
    const { input_tokens: input = 0, output_tokens: output = 0, ...cached } = message.usage
    const key = message.id ?? uuid ?? `line ${i}`
    const known = answers.get(key)
    if (known && known[1] >= output) continue
    const thinking = cached.output_tokens_details?.thinking_tokens ?? 0
    answers.set(key, [
      input,
      output,
      cached.cache_read_input_tokens ?? 0,
      cached.cache_creation_input_tokens ?? 0,
      thinking,
    ])
  }
  return total(answers.values())
}

/** Of versions before 0.171: what each `token_count` says of the last answer, unless the totals stay the same. */
const ofCodex = (path: string): Sums => {
  let before = 'null'
  return total(
    linesOf(path).map(({ type, payload }) => {
      if (type !== 'event_msg' || payload?.type !== 'token_count') return NONE
      const now = JSON.stringify(payload.info?.total_token_usage ?? null)
      const last = payload.info?.last_token_usage
      if (now === before || !last) return NONE
      before = now
      const cached = last.cached_input_tokens ?? 0
      return [last.input_tokens - cached, last.output_tokens, cached, 0, last.reasoning_output_tokens ?? 0]
    }),
  )
}

/** Each record once; input has what was cached, output has no thoughts. */
const ofGeminiCli = (path: string): Sums => {
  const records = path.endsWith('.json') ? JSON.parse(readFileSync(path, 'utf8')).messages : linesOf(path)
  const byId = new Map<unknown, Sums>()
  for (const [i, { id = i, type, tokens }] of (records ?? []).entries())
    if (type === 'gemini' && tokens) {
      const { input = 0, output = 0, cached = 0, thoughts = 0 } = tokens
      byId.set(id, [input - cached, output + thoughts, cached, 0, thoughts])
    }
  return total(byId.values())
}

const ofPi = (path: string): Sums =>
  total(
    linesOf(path).map(({ type, message }) => {
      if (type !== 'message' || message?.role !== 'assistant' || !message.usage) return NONE
      const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = message.usage
      return [input, output, cacheRead, cacheWrite, 0]
    }),
  )

const ofCopilotCli = (path: string): Sums =>
  total(
    linesOf(path).map(({ type, data }) =>
      type === 'assistant.message' ? [0, data?.outputTokens ?? 0, 0, 0, 0] : NONE,
    ),
  )

/** The messages of a session are files in a folder of its own; output has no reasoning. */
const ofOpencode = (path: string): Sums => {
  const { id } = JSON.parse(readFileSync(path, 'utf8'))
  const messages = join(path, '..', '..', '..', 'message', id)
  return total(
    globSync('*.json', { cwd: messages }).map((name) => {
      const { tokens = {} } = JSON.parse(readFileSync(join(messages, name), 'utf8'))
      const { input = 0, output = 0, reasoning = 0, cache = {} } = tokens
      return [input, output + reasoning, cache.read ?? 0, cache.write ?? 0, reasoning]
    }),
  )
}

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
      return [inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens]
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
  [cursor, 'agents/cursor/**/*.jsonl', () => NONE],
] as const satisfies readonly (readonly [Agent, string, (path: string) => Sums])[])
  for (const file of data ? globSync(pattern, { cwd: data }).sort() : [])
    test(file, async () => {
      const path = join(data!, file)
      assert.equal(await read(path, agent), second(path))
    })

test.run()
