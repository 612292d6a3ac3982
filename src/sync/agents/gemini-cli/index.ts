import { basename, join, sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { sessionPerFile } from '../support/file-session.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { entries } from './entries.ts'
import { parserOf } from './parser.ts'

const id = 'gemini-cli'

const version = 2

/** A document, or the first line of a file of records. In text that a session quotes, the quotation marks are escaped. */
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
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version), entries)),
}
