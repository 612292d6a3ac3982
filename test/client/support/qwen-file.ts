import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { qwenCode } from '../../../src/client/agents/qwen-code/index.ts'
import { readSession } from './read-session.ts'

type Fields = Readonly<Record<string, unknown>>

const timestamp = '2026-11-28T15:00:00.000Z'

/** A record. Its `provenance` is left out of the line when it is undefined, as older versions and sub-agents write it. */
export const record = (uuid: string | undefined, parentUuid: string | null, type: string, more: Fields = {}): string =>
  JSON.stringify({
    uuid,
    parentUuid,
    sessionId: 's-1',
    timestamp,
    type,
    cwd: '/w/app',
    version: '0.24.4',
    gitBranch: 'main',
    ...more,
  })

export const text = (value: string) => ({ text: value })
export const call = (id: string | undefined, name = 'run_shell_command', args: Fields = { command: 'ls' }) => ({
  functionCall: { id, name, args },
})

const content = (role: string, parts: readonly Fields[]) => ({ message: { role, parts } })

export const typed = (uuid: string | undefined, parentUuid: string | null, prompt: string, more: Fields = {}): string =>
  record(uuid, parentUuid, 'user', { provenance: 'real_user', ...content('user', [text(prompt)]), ...more })

export const answer = (
  uuid: string | undefined,
  parentUuid: string | null,
  parts: readonly Fields[],
  more: Fields = {},
): string => record(uuid, parentUuid, 'assistant', { model: 'qwen3-coder-plus', ...content('model', parts), ...more })

export const result = (uuid: string, parentUuid: string | null, response: Fields, more: Fields = {}): string =>
  record(uuid, parentUuid, 'tool_result', {
    ...content('user', [{ functionResponse: { id: 'c-1', name: 'run_shell_command', response } }]),
    ...more,
  })

export const system = (uuid: string, parentUuid: string | null, subtype: string, systemPayload: Fields): string =>
  record(uuid, parentUuid, 'system', { provenance: 'system', subtype, systemPayload })

/** A reader of sessions that are made of lines. */
export const reader = (folder: string, name = join('chats', 's-1.jsonl')) => {
  const read = (...lines: readonly string[]) => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
    return readSession(path, qwenCode)
  }
  const messages = async (...lines: readonly string[]) => (await read(...lines)).messages
  return {
    read,
    messages,
    ids: async (...lines: readonly string[]) => (await messages(...lines)).map(({ externalId }) => externalId),
    /** The role and the text of each message. */
    texts: async (...lines: readonly string[]) =>
      (await messages(...lines)).map(({ role, parts }) => [
        role,
        parts.map((part) => (part.type === 'text' ? part.content.text : part.type)).join(' | '),
      ]),
    trace: async (...lines: readonly string[]) => (await read(...lines)).session.trace,
  }
}
