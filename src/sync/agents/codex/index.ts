import { join } from 'node:path'
import type { Agent } from '../agent.ts'
import { objectsOf, sessionPerFile } from '../support/files.ts'
import { sessionOfLines } from '../support/session-of-lines.ts'
import { indexedTitle, isRollout, SESSION_FOLDERS } from './files.ts'
import { isRolloutLine } from './messages.ts'
import { parserOf } from './parser.ts'

const id = 'codex'

const version = 2

/** The first line holds the agent's instructions, and may be longer than the part of the file that is examined. */
const longFirstLine = /^\s*\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"session_meta","payload":\{/

/**
 * Codex stores sessions as `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`, archived ones in `archived_sessions`;
 * `README.md` describes how they are read. Raise `version` when the same file gives other messages than before.
 */
export const codex: Agent = {
  id,
  name: 'Codex',
  version,
  roots: (env, home) => SESSION_FOLDERS.map((folder) => join(env['CODEX_HOME'] || join(home, '.codex'), folder)),
  isSessionFile: isRollout,
  extensions: ['.jsonl', '.jsonl.zst'],
  recognises: (_path, beginning) => objectsOf(beginning).some(isRolloutLine) || longFirstLine.test(beginning),
  isSuperseded: (path, files) => path.endsWith('.zst') && files.has(path.slice(0, -'.zst'.length)),
  sessions: sessionPerFile(sessionOfLines(parserOf(id, version)), indexedTitle),
}
