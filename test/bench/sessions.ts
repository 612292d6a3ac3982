import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newRandom, textOfLength } from './corpus.ts'

/** Sizes of session files as people have them, in kilobytes: 270 in the mean. */
const SIZES = [520, 540, 170, 8, 145, 275, 72, 26, 385, 415, 175, 505]
/** Lengths of a tool's output: 1.7 KB in the mean. */
const OUTPUTS = [80, 150, 240, 350, 500, 700, 900, 1_200, 1_700, 2_600, 4_000, 8_000]

const START = 1_770_000_000_000

/** One turn of a Claude Code session: what an agent thinks, says and calls, the hook that runs, and what comes back. */
const turn = (session: string, i: number, random: () => number): string => {
  const text = (length: number) => textOfLength(length, random)
  const id = (kind: string) => `${kind}-${session}-${i}`
  const base = (uuid: string) => ({
    parentUuid: id('parent'),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/ada/workspace/app',
    sessionId: session,
    version: '2.1.33',
    gitBranch: 'main',
    uuid,
    timestamp: new Date(START + i * 5_000).toISOString(),
  })
  const usage = { input_tokens: 3, cache_read_input_tokens: 16_606, output_tokens: 212, service_tier: 'standard' }
  const answer = (uuid: string, block: object) => ({
    ...base(uuid),
    type: 'assistant',
    requestId: id('req'),
    message: { model: 'claude-opus-4-6', id: id('msg'), type: 'message', role: 'assistant', content: [block], usage },
  })
  const output = text(OUTPUTS[Math.floor(random() * OUTPUTS.length)]!)
  const result = { type: 'tool_result', tool_use_id: id('toolu'), content: output, is_error: false }
  const prompt = { ...base(id('v')), type: 'user', message: { role: 'user', content: text(120) } }
  const lines = [
    ...(i % 20 === 0 ? [prompt] : []),
    answer(id('a'), { type: 'thinking', thinking: text(260), signature: 'c2ln'.repeat(100) }),
    answer(id('b'), { type: 'text', text: text(180) }),
    answer(id('c'), { type: 'tool_use', id: id('toolu'), name: 'Bash', input: { command: text(150) } }),
    { ...base(id('p')), type: 'progress', data: { type: 'hook_progress', command: text(700) } },
    {
      ...base(id('u')),
      type: 'user',
      message: { role: 'user', content: [result] },
      toolUseResult: { stdout: output, stderr: '', interrupted: false, isImage: false },
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

/** Writes so many sessions into a folder, of at most so many bytes, and gives the bytes of all. The same ones in every run. */
export const writeSessions = (folder: string, count: number, largest = Infinity): number => {
  mkdirSync(folder, { recursive: true })
  let bytes = 0
  for (let i = 0; i < count; i++) {
    const name = `session-${i}`
    const text = [...session(name, Math.min(largest, SIZES[i % SIZES.length]! * 1_000), i)].join('')
    writeFileSync(join(folder, `${name}.jsonl`), text)
    bytes += text.length
  }
  return bytes
}
