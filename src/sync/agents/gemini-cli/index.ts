import { readFile } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { sessionPerFile } from '../support/files.ts'
import { parseObject } from '../support/json.ts'
import { type ObjectLine, objectLinesInParts, type Place } from '../support/lines.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { parserOf } from './parser.ts'

const MAX_DOCUMENT = 32 << 20

/** The records of a session file, in order. A document is a single record (README, rules 4 and 10). */
async function* records(
  path: string,
  size: number,
  onMalformed: (line: number) => void,
  at: Place,
  onBytes?: (bytes: Buffer) => void,
): AsyncGenerator<Iterable<ObjectLine>> {
  if (!path.endsWith('.json')) return yield* objectLinesInParts(path, size, onMalformed, at, onBytes)
  if (size > MAX_DOCUMENT)
    throw new Error(
      `expected a JSON document of at most 32 MiB, because it is parsed as a whole, got ${Math.ceil(size / 2 ** 20)} MiB`,
    )
  const text = (await readFile(path, 'utf8')).trim()
  const json = parseObject(text)
  if (json) yield [{ number: 1, offset: 0, size, ended: true, text, json }]
  else if (text !== '') onMalformed(1)
}

const id = 'gemini-cli'

const version = 2

/** Looks into a document, or into the first line of records. Text that a session quotes has escaped quotation marks, and does not match. */
const looksLike = (path: string, beginning: string): boolean => {
  const head = path.endsWith('.jsonl') ? beginning.slice(0, (beginning.indexOf('\n') + 1 || Infinity) - 1) : beginning
  if (!/^\s*\{/.test(head)) return false
  if (/"sessionId"\s*:/.test(head) && /"projectHash"\s*:/.test(head)) return true
  return path.endsWith('.json') && /"(?:type|role)"\s*:\s*"gemini"/.test(head)
}

/**
 * Gemini CLI stores sessions as `<root>/<project>/chats/session-<time>-<id>.jsonl`, formerly `.json`, and sub-agents in a folder
 * of their parent below; `README.md` describes how they are read. Raise `version` when the same file gives other messages.
 */
export const geminiCli: Agent = {
  id,
  name: 'Gemini CLI',
  version,
  roots: (env, home) => [join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'tmp')],
  skipsFolder: (path) => path.split(sep).length === 2 && basename(path) !== 'chats',
  isSessionFile: (path) => /[\\/]chats[\\/](?:session-[^\\/]*\.jsonl?|[^\\/]+[\\/][^\\/]+\.jsonl)$/.test(path),
  extensions: ['.jsonl', '.json'],
  recognises: looksLike,
  isSuperseded: (path, files) => path.endsWith('.json') && files.has(`${path}l`),
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version), records)),
}
