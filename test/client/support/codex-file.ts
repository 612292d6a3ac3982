import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { readSession } from './read-session.ts'

type Fields = Readonly<Record<string, unknown>>

/** A UUID of version 7 that was made at a time. */
export const uuidAt = (time: string, end = '000000000001'): string => {
  const hex = Date.parse(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${end}`
}

export const line = (type: string, payload: unknown, timestamp = '2026-02-01T10:00:00.000Z'): string =>
  JSON.stringify({ timestamp, type, payload })

export const meta = (id: string, more: Fields = {}): string =>
  line('session_meta', { id, timestamp: '2026-02-01T10:00:00.000Z', cwd: '/w/app', ...more })
export const turn = (turnId: string | undefined, model = 'gpt-5.5'): string =>
  line('turn_context', { turn_id: turnId, cwd: '/w/app', model })
export const item = (payload: unknown): string => line('response_item', payload)
export const event = (type: string, more: Fields = {}): string => line('event_msg', { type, ...more })

const message = (role: string, type: string, text: string, more: Fields): string =>
  item({ type: 'message', role, content: [{ type, text }], ...more })
export const prompt = (text: string, more: Fields = {}): string => message('user', 'input_text', text, more)
export const answer = (text: string, more: Fields = {}): string => message('assistant', 'output_text', text, more)
export const call = (more: Fields): string => item({ type: 'function_call', call_id: 'c-1', name: 'shell', ...more })
export const output = (value: unknown, more: Fields = {}): string =>
  item({ type: 'function_call_output', call_id: 'c-1', output: value, ...more })

export const text = (lines: readonly string[]): string => lines.map((one) => `${one}\n`).join('')

/** Writes a file below `folder`, with the folders that it needs. */
export const write = (folder: string, name: string, content: string | Uint8Array): string => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** A reader of sessions that are made of lines, in a folder of their own. */
export const reader = (folder: string) => {
  const read = (...lines: string[]) => readSession(write(folder, 'rollout-s.jsonl', text(lines)), codex)
  const messages = async (...lines: string[]) => (await read(...lines)).messages
  return {
    read,
    messages,
    ids: async (...lines: string[]) => (await messages(...lines)).map(({ externalId }) => externalId),
    parts: async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts),
    trace: async (...lines: string[]) => (await read(...lines)).session.trace,
  }
}

const stored = (input: number, output: number): Fields => ({
  input_tokens: input,
  cached_input_tokens: 4,
  output_tokens: output,
  reasoning_output_tokens: 1,
})

/** What one answer has used, as versions from 0.171 on write it. */
export const usageRecord = (id: string, input: number, output: number): string =>
  line('token_usage_record', { response_id: id, usage: stored(input, output) })

/** What the last answer, and all of them, have used, as all versions write it. */
export const tokenCount = (input: number, output: number, total: number): string =>
  event('token_count', {
    info: { last_token_usage: stored(input, output), total_token_usage: { total_tokens: total } },
  })
