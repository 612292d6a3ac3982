import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { readSession } from './read-session.ts'

type Fields = Readonly<Record<string, unknown>>

const timestamp = '2026-02-01T10:00:00.000Z'

export const header = (more: Fields = {}): string =>
  JSON.stringify({ type: 'session', version: 3, id: 's-1', timestamp, cwd: '/w/app', ...more })

/** An entry of a tree. `parentId` is left out of the line when it is undefined. */
export const entry = (id: string | undefined, parentId: string | null | undefined, fields: Fields): string =>
  JSON.stringify({ type: 'message', id, parentId, timestamp, ...fields })

export const user = (text: string) => ({ message: { role: 'user', content: [{ type: 'text', text }] } })
export const assistant = (content: unknown, more: Fields = {}) => ({
  message: { role: 'assistant', content, model: 'opus', stopReason: 'stop', ...more },
})
export const result = (more: Fields) => ({
  message: { role: 'toolResult', toolCallId: 'c-1', content: [{ type: 'text', text: 'ok' }], isError: false, ...more },
})
export const text = (value: string) => ({ type: 'text', text: value })
export const call = (more: Fields) => ({ type: 'toolCall', id: 'c-1', name: 'bash', arguments: {}, ...more })

/** A reader of sessions that are made of lines. */
export const reader = (folder: string) => {
  const read = (...lines: string[]) => {
    const path = join(folder, 'time_s-0.jsonl')
    writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
    return readSession(path, pi)
  }
  const messages = async (...lines: string[]) => (await read(...lines)).messages
  return {
    read,
    messages,
    ids: async (...lines: string[]) => (await messages(...lines)).map(({ externalId }) => externalId),
    parts: async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts),
    trace: async (...lines: string[]) => (await read(...lines)).session.trace,
  }
}
