import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copilotCli } from '../../../src/client/agents/copilot-cli/index.ts'
import { readSession } from './read-session.ts'

type Fields = Readonly<Record<string, unknown>>

export const event = (id: string | undefined, type: string, data: unknown, more: Fields = {}): string =>
  JSON.stringify({ type, data, id, timestamp: '2026-02-01T10:00:00.000Z', parentId: null, ...more })

export const start = (data: Fields = {}): string =>
  event('start', 'session.start', { sessionId: 's-1', context: { cwd: '/w/app' }, ...data })
export const prompt = (id: string, content: unknown, data: Fields = {}): string =>
  event(id, 'user.message', { content, transformedContent: `transformed ${String(content)}`, attachments: [], ...data })
export const answer = (id: string, content: unknown, data: Fields = {}): string =>
  event(id, 'assistant.message', { content, toolRequests: [], ...data })
export const request = (data: Fields = {}) => ({ toolCallId: 'c-1', name: 'bash', arguments: {}, ...data })
export const complete = (id: string, data: Fields = {}): string =>
  event(id, 'tool.execution_complete', { toolCallId: 'c-1', success: true, result: { content: 'ok' }, ...data })

/** Writes lines to a file below `folder`, with the folders that it needs. */
export const write = (folder: string, name: string, lines: readonly string[]): string => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

/** A reader of sessions that are made of lines. */
export const reader = (folder: string) => {
  const read = (...lines: string[]) => readSession(write(folder, 'session-state/s-0/events.jsonl', lines), copilotCli)
  const messages = async (...lines: string[]) => (await read(...lines)).messages
  return {
    read,
    messages,
    ids: async (...lines: string[]) => (await messages(...lines)).map(({ externalId }) => externalId),
    parts: async (...lines: string[]) => (await messages(...lines)).flatMap(({ parts }) => parts),
    trace: async (...lines: string[]) => (await read(...lines)).session.trace,
  }
}
