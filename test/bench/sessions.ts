import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newRandom, textOfLength } from './corpus.ts'

/** Sizes of session files as people have them, in kilobytes: 1,300 in the mean. */
const SIZES = [2_500, 2_630, 815, 12, 700, 1_330, 350, 42, 1_860, 2_015, 850, 2_450]
/** Lengths of a tool's output: 1.7 KB in the mean. */
const OUTPUTS = [80, 150, 240, 350, 500, 700, 900, 1_200, 1_700, 2_600, 4_000, 8_000]

const START = 1_770_000_000_000

/**
 * One turn of a Claude Code session: what an agent thinks, says and calls, what tells of a hook and of a sub-agent meanwhile, and what
 * comes back. Of the bytes 44 % are what the CLI keeps for itself of a result (`toolUseResult`), and 20 % lines of `progress`.
 */
const turn = (session: string, i: number, random: () => number): string => {
  const text = (length: number) => textOfLength(length, random)
  const id = (kind: string) => `${kind}-${session}-${i}`
  const start = {
    parentUuid: id('parent'),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/ada/workspace/app',
    sessionId: session,
    version: '2.1.33',
    gitBranch: 'main',
    slug: 'squishy-watching-snowflake',
  }
  const end = (kind: string) => ({ uuid: id(kind), timestamp: new Date(START + i * 5_000).toISOString() })
  const usage = { input_tokens: 3, cache_read_input_tokens: 16_606, output_tokens: 212, service_tier: 'standard' }
  const answer = (kind: string, block: object) => ({
    ...start,
    message: {
      model: 'claude-opus-4-6',
      id: id('msg'),
      type: 'message',
      role: 'assistant',
      content: [block],
      stop_reason: null,
      usage,
    },
    requestId: id('req'),
    type: 'assistant',
    ...end(kind),
  })
  const progress = (kind: string, data: object) => ({
    ...start,
    type: 'progress',
    data,
    toolUseID: id('toolu'),
    parentToolUseID: id('toolu'),
    ...end(kind),
  })
  const user = (kind: string, content: unknown) => ({
    ...start,
    type: 'user',
    message: { role: 'user', content },
    ...end(kind),
  })
  const output = text(OUTPUTS[Math.floor(random() * OUTPUTS.length)]!)
  const result = { tool_use_id: id('toolu'), type: 'tool_result', content: output, is_error: false }
  const file = { filePath: '/home/ada/workspace/app/index.ts', originalFile: text(4_000) }
  const lines = [
    ...(i % 20 === 0 ? [user('v', text(120))] : []),
    answer('a', { type: 'thinking', thinking: text(260), signature: 'c2ln'.repeat(80) }),
    answer('b', { type: 'text', text: text(180) }),
    answer('c', { type: 'tool_use', id: id('toolu'), name: 'Bash', input: { command: text(150) } }),
    progress('p', { type: 'hook_progress', hookEvent: 'PreToolUse', command: text(150) }),
    progress('q', {
      message: { type: 'user', message: { role: 'user', content: [{ type: 'text', text: text(1_350) }] }, ...end('r') },
      normalizedMessages: [],
      type: 'agent_progress',
      agentId: 'a5d2ef4',
    }),
    {
      ...user('u', [result]),
      toolUseResult: { stdout: output, stderr: '', interrupted: false, isImage: false, ...file },
      sourceToolAssistantUUID: id('c'),
    },
  ]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** A session of about so many bytes, in pieces. */
export function* session(name: string, bytes: number, seed: number): Generator<string> {
  const random = newRandom(seed)
  for (let i = 0, written = 0; written < bytes; i++) {
    const text = turn(name, i, random)
    written += text.length
    yield text
  }
}

/**
 * Writes so many sessions into a folder, of at most so many bytes, and gives the bytes of all. The same ones in every run, but for
 * their names: ids of traces are of one user.
 */
export const writeSessions = (folder: string, count: number, largest = Infinity, prefix = 'session'): number => {
  mkdirSync(folder, { recursive: true })
  let bytes = 0
  for (let i = 0; i < count; i++) {
    const name = `${prefix}-${i}`
    const text = [...session(name, Math.min(largest, SIZES[i % SIZES.length]! * 1_000), i)].join('')
    writeFileSync(join(folder, `${name}.jsonl`), text)
    bytes += text.length
  }
  return bytes
}
