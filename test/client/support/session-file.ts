import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Fields = Readonly<Record<string, unknown>>

const at = (second: number) => new Date(Date.UTC(2026, 1, 1, 10, 0, second)).toISOString()

/** A line of a session file: `base` and what the line adds. */
export const line = (fields: Fields): string =>
  JSON.stringify({
    isSidechain: false,
    cwd: '/w/app',
    sessionId: 's-1',
    gitBranch: 'main',
    timestamp: at(0),
    ...fields,
  })

export const userLine = (uuid: string, content: unknown, more: Fields = {}): string =>
  line({ type: 'user', uuid, message: { role: 'user', content }, ...more })

/** One chunk of the answer `id`. */
export const answerLine = (uuid: string, id: string, blocks: readonly unknown[], more: Fields = {}): string =>
  line({
    type: 'assistant',
    uuid,
    message: { id, role: 'assistant', model: 'claude-opus-4-6', content: blocks },
    ...more,
  })

export const text = (value: string) => ({ type: 'text', text: value })
export const call = (id: string, name: string, input: unknown = {}) => ({ type: 'tool_use', id, name, input })
export const result = (id: string, content: unknown, more: Fields = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})

/** Writes the lines, each with a newline, and gives the path. */
export const writeSession = (folder: string, name: string, lines: readonly string[]): string => {
  const path = join(folder, name)
  writeFileSync(path, lines.map((one) => `${one}\n`).join(''))
  return path
}
