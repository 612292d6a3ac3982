import { basename, join, sep } from 'node:path'
import type { Agent } from '../agent.ts'
import { type ReadSessionFile, sessionPerFile } from '../support/file-session.ts'
import { countSkipped } from '../support/skipped-lines.ts'
import { entries } from './entries.ts'
import { messagesOf } from './messages.ts'
import { externalIdOf, readOutline, traceFields } from './outline.ts'

const id = 'gemini-cli'

const readSession: ReadSessionFile = async (path, { size, onMalformed }) => {
  const skipped = countSkipped(onMalformed)
  const outline = await readOutline(entries(path, size, skipped.onMalformed))
  return {
    externalId: externalIdOf(path, outline),
    trace: await traceFields(id, path, outline),
    skippedLines: skipped.lines,
    messages: () =>
      messagesOf(
        entries(path, size, () => {}),
        outline.history,
      ),
  }
}

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
  version: 1,
  roots: (env, home) => [join(env['GEMINI_CLI_HOME'] || home, '.gemini', 'tmp')],
  skipsFolder: (path) => path.split(sep).length === 2 && basename(path) !== 'chats',
  isSessionFile: (path) => /[\\/]chats[\\/](?:session-[^\\/]*\.jsonl?|[^\\/]+[\\/][^\\/]+\.jsonl)$/.test(path),
  extensions: ['.jsonl', '.json'],
  recognises: looksLike,
  isSuperseded: (path, files) => path.endsWith('.json') && files.has(`${path}l`),
  sessions: sessionPerFile(readSession),
}
