import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '../../../src/client/agents/agent.ts'
import { claudeCode } from '../../../src/client/agents/claude-code/index.ts'
import { codex } from '../../../src/client/agents/codex/index.ts'
import { geminiCli } from '../../../src/client/agents/gemini-cli/index.ts'
import { pi } from '../../../src/client/agents/pi/index.ts'
import { qwenCode } from '../../../src/client/agents/qwen-code/index.ts'

const ID = '01a03d4c-1111-7222-8333-444455556666'
const START = Date.UTC(2026, 8, 9, 9)

/** What is known where a turn is written: its number in the conversation, and in which file it is. */
type Turn = {
  readonly index: number
  readonly file: number
  readonly isFirstOfFile: boolean
  readonly prompt: string
  readonly answer: string
  /** The time of a second of the turn. */
  readonly at: (second: number) => string
}

/** An agent, the files in which it can have one session, and the lines of a turn. */
export type Parted = {
  readonly agent: Agent
  /** Below the home folder, in the order in which they were begun. */
  readonly files: readonly string[]
  readonly lines: (turn: Turn) => readonly object[]
}

const uuidOf = (index: number, which: string) =>
  `${which.padStart(8, '0')}-0000-4000-8000-${String(index).padStart(12, '0')}`

const codexLines: Parted['lines'] = ({ index, file, isFirstOfFile, prompt, answer, at }) => {
  const segment = `01a03d${file}c-1111-7222-8333-444455556666`
  const base = { history_base: { thread_id: ID, end_ordinal_exclusive: index * 10 } }
  const meta = {
    ...{ id: ID, session_id: segment, timestamp: at(0), cwd: `/w/app-${file}`, git: { branch: `b-${file}` } },
    ...(file === 0 ? {} : base),
  }
  const message = (role: string, type: string, text: string) => ({
    ...{ type: 'message', id: `${role}-${index}`, role, content: [{ type, text }] },
  })
  return [
    ...(isFirstOfFile ? [{ type: 'session_meta', payload: meta }] : []),
    { type: 'turn_context', payload: { turn_id: `turn-${index}`, cwd: '/w/app', model: 'gpt-5.5' } },
    { type: 'response_item', payload: message('user', 'input_text', prompt) },
    { type: 'response_item', payload: message('assistant', 'output_text', answer) },
  ].map((line, n) => ({ timestamp: at(n), ordinal: index * 10 + n, ...line }))
}

const claudeLines: Parted['lines'] = ({ index, file, prompt, answer, at }) => {
  const base = { isSidechain: false, cwd: `/w/app-${file}`, gitBranch: `b-${file}`, sessionId: ID }
  const content = [{ type: 'text', text: answer }]
  return [
    { type: 'mode', sessionId: ID, mode: `m-${index}` },
    { ...base, type: 'user', uuid: uuidOf(index, 'a'), timestamp: at(0), message: { role: 'user', content: prompt } },
    {
      ...{ ...base, type: 'assistant', uuid: uuidOf(index, 'b'), timestamp: at(1) },
      message: { id: `msg-${index}`, role: 'assistant', model: 'claude-opus-4-6', content },
    },
  ]
}

const piLines: Parted['lines'] = ({ index, file, isFirstOfFile, prompt, answer, at }) => [
  ...(isFirstOfFile ? [{ type: 'session', version: 3, id: ID, timestamp: at(0), cwd: `/w/app-${file}` }] : []),
  ...[
    { role: 'user', content: prompt },
    { role: 'assistant', content: [{ type: 'text', text: answer }], model: 'm-1' },
  ].map((message, n) => ({
    ...{
      type: 'message',
      id: `e-${index}-${n}`,
      parentId: n === 0 ? (index === 0 ? null : `e-${index - 1}-1`) : `e-${index}-0`,
    },
    ...{ timestamp: at(n), message },
  })),
]

const qwenLines: Parted['lines'] = ({ index, file, prompt, answer, at }) =>
  [
    { type: 'user', message: { role: 'user', parts: [{ text: prompt }] } },
    { type: 'assistant', model: 'm-1', message: { role: 'model', parts: [{ text: answer }] } },
  ].map((line, n) => ({
    ...{ uuid: uuidOf(index, `a${n}`), sessionId: ID, timestamp: at(n), cwd: `/w/app-${file}`, gitBranch: `b-${file}` },
    ...{ parentUuid: n === 1 ? uuidOf(index, 'a0') : index === 0 ? null : uuidOf(index - 1, 'a1'), ...line },
  }))

const geminiLines: Parted['lines'] = ({ index, isFirstOfFile, prompt, answer, at }) => [
  ...(isFirstOfFile ? [{ sessionId: ID, projectHash: 'h', startTime: at(0), lastUpdated: at(0), kind: 'main' }] : []),
  { id: uuidOf(index, 'a'), timestamp: at(0), type: 'user', content: [{ text: prompt }] },
  { id: uuidOf(index, 'b'), timestamp: at(1), type: 'gemini', content: answer, model: 'm-1' },
]

const numbers = [0, 1, 2]
const minutes = ['33-56', '37-37', '41-54']
const segments = ['', '_01a03d1c-1111-7222-8333-444455556666', '_01a03d2c-1111-7222-8333-444455556666']

export const parted: readonly Parted[] = [
  {
    agent: codex,
    files: numbers.map(
      (n) => `.codex/sessions/2026/09/09/rollout-2026-09-09T09-${minutes[n]}-${ID}${segments[n]}.jsonl`,
    ),
    lines: codexLines,
  },
  { agent: claudeCode, files: numbers.map((n) => `.claude/projects/-w-app-${n}/${ID}.jsonl`), lines: claudeLines },
  {
    agent: pi,
    files: numbers.map((n) => `.pi/agent/sessions/--w-app-${n}--/2026-09-09T09-00-00-000Z_${ID}.jsonl`),
    lines: piLines,
  },
  { agent: qwenCode, files: numbers.map((n) => `.qwen/projects/-w-app-${n}/chats/${ID}.jsonl`), lines: qwenLines },
  {
    agent: geminiCli,
    files: numbers.map((n) => `.gemini/tmp/app-${n}/chats/session-2026-09-09T09-33-01a03d4c.jsonl`),
    lines: geminiLines,
  },
]

/** A part of a conversation, of turns that follow each other, in one of the files. */
export type Run = { readonly file: number; readonly turns: readonly number[] }

/** The texts of a turn, in order. */
export const textsOf = (turn: number): readonly string[] => [`prompt ${turn}`, `answer ${turn}`]

/** The text of a run's lines. */
export const textOfRun = ({ lines }: Parted, { file, turns }: Run, isFirst: boolean): string =>
  turns
    .flatMap((index, n) => {
      const [prompt, answer] = textsOf(index) as [string, string]
      const at = (second: number) => new Date(START + index * 60_000 + second * 1_000).toISOString()
      return lines({ index, file, isFirstOfFile: isFirst && n === 0, prompt, answer, at })
    })
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

/** Writes runs as they arrive; `write` gives the path of the file. */
export const newPartedFiles = (home: string, kind: Parted) => {
  const begun = new Set<number>()
  return {
    write: (run: Run): string => {
      const path = join(home, kind.files[run.file]!)
      mkdirSync(dirname(path), { recursive: true })
      appendFileSync(path, textOfRun(kind, run, !begun.has(run.file)))
      begun.add(run.file)
      return path
    },
  }
}
